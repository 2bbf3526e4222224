import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/*/{src,test}/**/*.test.ts',
      'e2e/**/*.test.ts',
      'scripts/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    exclude: ['e2e/system/**'],
    globalSetup: './scripts/before-tests.ts',
    reporters: ['default', './scripts/reporter.ts'],
    // Deadlines of what hangs, not of what is slow: a busy machine takes its time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
    pool: 'forks',
  },
});
