import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from './program.ts';

/** A command and all below it, with their names as they are typed. */
function all(command: Command, path: string): [string, Command][] {
  const below = command.commands.flatMap((one) => all(one, `${path} ${one.name()}`));
  return [[path, command], ...below];
}

/** The help as it is printed on a terminal of 80 columns. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 80,
  });
  command.outputHelp();
  return text;
}

// With arguments that lead to a command of the server's package, so that its commands are there.
const program = await createProgram(['serve'], () => {});
const commands = all(program, 'tally');

test('there are the commands of both packages', () => {
  const paths = commands.map(([path]) => path);
  expect(paths).toContain('tally keys generate');
  expect(paths).toContain('tally keys rotate');
  expect(commands.find(([path]) => path === 'tally ledger')?.[1].commands.length).toBeGreaterThan(3);
});

test.each(commands)('the help of %s fits a terminal of 80 columns', (_, command) => {
  expect(
    helpOf(command)
      .split('\n')
      .filter((line) => line.length > 80),
  ).toEqual([]);
});
