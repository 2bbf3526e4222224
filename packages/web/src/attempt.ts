import { TallyError } from '@tallystick/core';

/** Returns the result of `act`, or the TallyError that it throws. */
export function attempt<T>(act: () => T): T | TallyError {
  try {
    return act();
  } catch (error) {
    if (error instanceof TallyError) return error;
    throw error;
  }
}
