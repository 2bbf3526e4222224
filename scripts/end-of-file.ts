const ends: (() => unknown)[] = [];

/**
 * Has something run after the last test of each file, from the one on that first loads the caller. Test files share their modules:
 * vitest's own `afterAll`, called where a shared module is loaded, is for the first of its files alone.
 */
export function afterEachFile(end: () => unknown): void {
  ends.push(end);
}

/** Runs all of them, the latest first. Rejects with the first failure, after the last has run. */
export async function endFile(): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends.toReversed()) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
