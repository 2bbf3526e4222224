import { addressClass } from './addresses.ts';

/** Which addresses may be called. Every address that a name has must pass. */
export interface GuardPolicy {
  /** By https on port 443 or 80. */
  readonly secure: (address: string) => boolean;
  /** By plain http, or on another port; null for never, and then the name isn't even looked up. */
  readonly plain: ((address: string) => boolean) | null;
}

const isPublic = (address: string): boolean => addressClass(address) === 'public';
const isLoopback = (address: string): boolean => addressClass(address) === 'loopback';

const publicOnly: GuardPolicy = { secure: isPublic, plain: null };
const publicOrLoopback: GuardPolicy = {
  secure: (address) => isPublic(address) || isLoopback(address),
  plain: isLoopback,
};

/** Public addresses by https; in development also this machine, by whatever it speaks. */
export function guardPolicy({ mode }: { readonly mode: 'development' | 'production' }): GuardPolicy {
  return mode === 'development' ? publicOrLoopback : publicOnly;
}
