/** The path of a Python with the package and what its tests need; undefined where there is no Python of 3.10 or later. */
export function setUpPython(): string | undefined;
/** Options of `pip install`, by which it takes less time. */
export const QUICKLY: readonly string[];
