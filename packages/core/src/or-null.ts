import { TallyError } from './errors.ts';

/** Returns the result of `act`, or null if it throws a TallyError. */
export function orNull<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}
