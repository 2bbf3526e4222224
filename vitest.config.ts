import { defineConfig } from 'vitest/config';

/** Suites that put modules in place of others, which only a process of their own can. */
const MOCKING = ['packages/server/test/added-profile.test.ts'];

export default defineConfig({
  test: {
    globalSetup: './scripts/before-tests.ts',
    reporters: ['default', './scripts/reporter.ts'],
    // Deadlines of what hangs, not of what is slow: a busy machine takes its time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
    pool: 'forks',
    projects: [
      // Beside the sources most tests take less time than a process of their own and its imports would.
      { extends: true, test: { name: 'src', include: ['packages/*/src/**/*.test.ts'], isolate: false } },
      {
        extends: true,
        test: {
          name: 'server',
          include: ['packages/server/test/**/*.test.ts'],
          exclude: MOCKING,
          setupFiles: './packages/server/test/each-file.ts',
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'test',
          include: ['packages/!(server)/test/**/*.test.ts', ...MOCKING, '{e2e,scripts,bench}/**/*.test.ts'],
          exclude: ['e2e/system/**'],
        },
      },
    ],
  },
});
