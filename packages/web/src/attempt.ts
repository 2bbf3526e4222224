import { TallyError } from '@tallystick/core';

/** What `act` gives, or the TallyError that it throws. */
export function attempt<T>(act: () => T): T | TallyError {
  try {
    return act();
  } catch (error) {
    if (error instanceof TallyError) return error;
    throw error;
  }
}
