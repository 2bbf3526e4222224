import { PENDING } from './missing-calls.ts';

/** The id of a billed call: `r_env_`, the Unix seconds of its beginning, and 12 hexadecimal digits. */
const CALL_ID = /^r_env_(\d{10})_[0-9a-f]{12}$/;

/**
 * Whether a text is the id of a call that may have ended just now. A look for other texts could go through all calls that ever were.
 * @param now Unix milliseconds
 * @param maxCallMs milliseconds that a call may last
 */
export function isRecentCall(id: string, now: number, maxCallMs: number): boolean {
  const began = CALL_ID.exec(id)?.[1];
  return began !== undefined && Number(began) * 1_000 > now - maxCallMs - PENDING * 1_000;
}
