import { type StatusState } from '@tallystick/core';

/** What is wrong beside the answer: the endpoint answers, but what it is for does not work, or not well. */
export interface Trouble {
  readonly state: Exclude<StatusState, 'up'>;
  readonly code: string;
}
