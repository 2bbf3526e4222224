/** Results of a suite. Times are medians over the rounds; a ratio compares two rates of the same run. */
export interface Report {
  readonly title: string;
  readonly method: string;
  readonly rows: readonly Row[];
  /** Why rows are missing, and how to get what they need. */
  readonly missing?: readonly string[];
}

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The target, and whether more is better. */
  readonly aim?: { readonly at_least: number } | { readonly at_most: number };
  /** The value of every round. */
  readonly rounds?: readonly number[];
}
