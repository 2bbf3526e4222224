import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Node keeps the compiled form of each file here, as it does for `tally`. Without it each thread of a service under test loads
// Node's compiler of TypeScript, which is WebAssembly, and begins after 1.4 s instead of 0.5.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');

/** Suites that put modules in place of others, which only a process of their own can. */
const MOCKING = ['packages/server/test/added-profile.test.ts'];

const REPEATING = { runner: './scripts/repeating-runner.ts', includeTaskLocation: true };

export default defineConfig({
  test: {
    ...(process.env.TALLY_TEST_REPEATS ? REPEATING : {}),
    globalSetup: './scripts/before-tests.ts',
    setupFiles: './scripts/each-file.ts',
    reporters: ['default', './scripts/reporter.ts'],
    // Deadlines of what hangs, not of what is slow: a busy machine takes its time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
    pool: 'forks',
    // Most files share processes: to import what they test once a file took three times as long as once a process.
    isolate: false,
    projects: [
      { extends: true, test: { name: 'src', include: ['packages/*/src/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'server',
          include: ['packages/server/test/**/*.test.ts'],
          exclude: MOCKING,
        },
      },
      {
        extends: true,
        test: {
          name: 'test',
          include: ['packages/!(server)/test/**/*.test.ts', '{scripts,bench}/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts', ...MOCKING],
          exclude: ['e2e/system/**'],
          isolate: true,
        },
      },
    ],
  },
});
