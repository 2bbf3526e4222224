import { defineConfig } from 'vitest/config';

/** The tests of `npm run test:system`: they mount disks and build images, each in folders and on ports of its own. */
export default defineConfig({
  test: {
    include: ['e2e/system/**/*.test.ts'],
    globalSetup: ['./scripts/before-tests.ts', './e2e/system/shared-folder.ts'],
    reporters: ['default', './scripts/reporter.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 2,
    pool: 'forks',
  },
});
