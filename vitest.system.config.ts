import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes though they are short. Begun last, they would run alone at the end. */
const LONGEST = ['balancer.test.ts', 'clients-python.test.ts'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((name) => moduleId.endsWith(`/${name}`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** The tests of `npm run test:system`: they mount disks and build images, each in folders and on ports of its own. */
export default defineConfig({
  test: {
    include: ['e2e/system/**/*.test.ts'],
    globalSetup: ['./scripts/before-tests.ts', './e2e/system/shared-folder.ts'],
    setupFiles: './scripts/each-file.ts',
    reporters: ['default', './scripts/reporter.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Several of them mostly wait: for a disk that fills up, or for a database that has to be found dead.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
  },
});
