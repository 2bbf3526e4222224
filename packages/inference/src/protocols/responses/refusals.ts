import { TallyError } from '@tallystick/core';

/** The refusal of a member that refers to what an earlier call left behind. */
export function stateless(field: string, message: string): TallyError {
  return new TallyError('state_not_kept', message, { field });
}
