import { type StatusState } from '@tallystick/core';

/** What is wrong although the endpoint answers: what it is for does not work, or not well. */
export interface Trouble {
  readonly state: Exclude<StatusState, 'up'>;
  readonly code: string;
}
