import { uniform } from './draws.ts';

/** The comparison that a call belongs to, as its route records it. */
export interface ComparisonRecord {
  readonly name: string;
  /** Share of the calls in arm `b`, 0 to 1. */
  readonly share: number;
  /** Random; the arm follows from it. */
  readonly seed: string;
  readonly arm: 'a' | 'b';
}

/** Arm `b` is the one that is tried out. */
export function armOf({ name, share, seed }: Omit<ComparisonRecord, 'arm'>): 'a' | 'b' {
  return uniform(seed, name) < share ? 'b' : 'a';
}
