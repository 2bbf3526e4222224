import { TallyError } from './errors.ts';

/** What `act` answers, or null where it refuses with a TallyError. */
export function orNull<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}
