import { readFileSync } from 'node:fs';
import { type RunnerTask, type RunnerTestCase, type RunnerTestFile, TestRunner } from 'vitest';

/** What a test's text says where it draws at random, or waits for what another process, timer or server does. */
const DRAWS_OR_WAITS = [
  /\bfc\./,
  /\brandom\w*\(|\bdrawn?\(|\bpick\(/i,
  /\b(?:until|waitFor\w*|waitUntil|settled|ended|once)\(|\.poll\(/,
  /\bset(?:Timeout|Interval)\(|\bkill\(/,
];

/**
 * Runs each test that draws at random or waits TALLY_TEST_REPEATS times in a row, and the others once. It goes by the
 * text of the test and of the functions of its file that it calls. A file that draws once, for all of its tests, must
 * be run again as a whole.
 */
export default class RepeatingRunner extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    const repeats = Number(process.env.TALLY_TEST_REPEATS) - 1;
    for (const file of files) {
      const lines = readFileSync(file.filepath, 'utf8').split('\n');
      const patterns = [...DRAWS_OR_WAITS, ...functionsThat(DRAWS_OR_WAITS, lines)];
      const tests = testsOf(file.tasks);
      const starts = tests.map(lineOf).sort((one, other) => one - other);
      const repeated = tests.filter((test) => {
        const end = starts.find((start) => start > lineOf(test)) ?? lines.length + 1;
        const text = lines.slice(lineOf(test) - 1, end - 1).join('\n');
        return patterns.some((pattern) => pattern.test(text));
      });
      for (const test of repeated) test.repeats = repeats;
      if (repeated.length > 0)
        process.stdout.write(
          `${file.name}: ${repeated.length} of ${tests.length} tests ${repeats + 1} times\n`,
        );
    }
  }
}

const lineOf = (test: RunnerTestCase): number => test.location?.line ?? 1;

function testsOf(tasks: readonly RunnerTask[]): RunnerTestCase[] {
  return tasks.flatMap((task) => (task.type === 'suite' ? testsOf(task.tasks) : [task]));
}

/** Patterns for the functions of a file whose own text has one of the patterns, or calls such a function. */
function functionsThat(patterns: readonly RegExp[], lines: readonly string[]): RegExp[] {
  const blocks = lines.join('\n').split(/\n(?=(?:export )?(?:async )?(?:function|const|class) )/);
  const names = new Set<string>();
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    const known = [...patterns, ...[...names].map(callOf)];
    for (const block of blocks) {
      const name = /^(?:export )?(?:async )?(?:function\*?|const|class) (\w+)/.exec(block)?.[1];
      if (
        name !== undefined &&
        known.some((pattern) => pattern.test(block.split(/\n(?:describe|test|it)\b/)[0] ?? ''))
      )
        names.add(name);
    }
  }
  return [...names].map(callOf);
}

const callOf = (name: string): RegExp => new RegExp(`\\b${name}\\b`);
