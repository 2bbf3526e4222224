import { addressClass } from './addresses.ts';

/** Which addresses may be called. Every address of a name must pass. */
export interface GuardPolicy {
  /** Whether the address may be called by https on port 443 or 80. */
  readonly secure: (address: string) => boolean;
  /** Whether it may be called by plain http, or on another port. Null for never; then the name is not even resolved. */
  readonly plain: ((address: string) => boolean) | null;
}

const isPublic = (address: string): boolean => addressClass(address) === 'public';
const isLoopback = (address: string): boolean => addressClass(address) === 'loopback';

const publicOnly: GuardPolicy = { secure: isPublic, plain: null };
const publicOrLoopback: GuardPolicy = {
  secure: (address) => isPublic(address) || isLoopback(address),
  plain: isLoopback,
};

/** Allows public addresses by https; in development also this machine, by any protocol. */
export function guardPolicy({ mode }: { readonly mode: 'development' | 'production' }): GuardPolicy {
  return mode === 'development' ? publicOrLoopback : publicOnly;
}
