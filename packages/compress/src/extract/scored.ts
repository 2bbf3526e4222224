/** A unit as it is scored. */
export interface Scored {
  readonly text: string;
  /** Its block: neighbours in another are none. */
  readonly block: number;
  /** Speaker, in a dialogue. */
  readonly speaker?: string | undefined;
  /** How many units before it its passage begins; what leads a passage is often what it is about. */
  readonly lead: number;
  /** How many units before it the heading stands that it is under, or 0. */
  readonly heading: number;
  /** At the beginning or the end of its block. */
  readonly edge: boolean;
  /** How much the unit stands out from others of its kind, 0 to 1: a rare template in a log, an error. */
  readonly salience: number;
}
