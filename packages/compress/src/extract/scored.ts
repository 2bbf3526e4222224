/** A unit with the facts that scoring needs. */
export interface Scored {
  readonly text: string;
  /** Index of its block; units of different blocks are no neighbours. */
  readonly block: number;
  /** Whether it is a turn of a dialogue. */
  readonly turn?: boolean;
  /** Speaker of a turn, or name of the function that it declares. */
  readonly name?: string | undefined;
  /** Distance in units back to the first unit of its passage, which often names the subject. */
  readonly lead: number;
  /** Distance in units back to its heading; 0 if there is none. */
  readonly heading: number;
  /** Whether it is at the beginning or the end of its block. */
  readonly edge: boolean;
  /** How much the unit stands out from others of its kind, 0 to 1: for example by a rare template in a log, or an error. */
  readonly salience: number;
}
