import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** What the engine of JavaScript writes before it ends the process. */
const FATAL = '# Fatal error in';
const FATAL_LINES = 30;

/**
 * Ends a run with one plain line, `N passed, N failed[, N skipped]`, which is easy to find in logs. Before it stands once
 * more what processes that crashed said last: Vitest names the signal only, and their words are pages above.
 */
export default class ClosingLine implements Reporter {
  /** By process of tests: what it wrote to stderr since its fatal error began. Before one it is the last characters alone. */
  readonly #ends = new Map<unknown, string>();

  onInit({ logger }: Vitest): void {
    logger.errorStream.on('pipe', (process) => {
      process.on('data', (chunk: Buffer) => this.#read(process, chunk.toString()));
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const before = counts.failed;
      for (const test of module.children.allTests()) counts[test.result().state]++;
      if (!module.ok() && counts.failed === before) counts.failed++;
    }
    const skipped = counts.skipped + counts.pending;
    const fatal = [...this.#ends.values()].filter((end) => end.startsWith(FATAL));
    process.stdout.write(
      `${fatal.join('\n')}\n${counts.passed} passed, ${counts.failed} failed${skipped ? `, ${skipped} skipped` : ''}\n`,
    );
  }

  #read(process: unknown, text: string): void {
    const end = (this.#ends.get(process) ?? '') + text;
    const at = end.indexOf(FATAL);
    this.#ends.set(
      process,
      at < 0 ? end.slice(-FATAL.length) : end.slice(at).split('\n', FATAL_LINES).join('\n'),
    );
  }
}
