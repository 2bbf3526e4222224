import { MissingData } from '../scripts/public-data.ts';

/** Reads what needs public data. Where they are missing, there is nothing, and the reason says how to get them. */
export function unlessMissing<T>(read: () => readonly T[]): {
  readonly found: readonly T[];
  readonly missing: readonly string[];
} {
  try {
    return { found: read(), missing: [] };
  } catch (error) {
    if (!(error instanceof MissingData)) throw error;
    return { found: [], missing: [error.message] };
  }
}
