import type { SessionVerification } from '@tallystick/core';
import type { State } from '../dom.ts';

/** A session with its verdict. */
export interface JudgedSession {
  /** Name of the file. */
  readonly name: string;
  readonly verdict: SessionVerification;
}

/** How a session's verdict is drawn. */
export function stateOf({ valid, trusted }: SessionVerification): State {
  if (!valid) return 'fail';
  return trusted ? 'pass' : 'unsure';
}
