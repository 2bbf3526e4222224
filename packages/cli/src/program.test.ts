import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
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

describe('docs/cli.md', () => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const sections = page.split(/^## /m);
  const leaves = commands.filter(
    ([path, { commands: below }]) => below.length === 0 && path !== 'tally complete',
  );

  /** What the page says of a command: the section of its group, or of the neighbour that it stands beside. */
  const sectionOf = (path: string): string => {
    const group = path.split(' ').slice(0, 2).join(' ');
    const own = sections.find((text) => text.startsWith(`${group}\n`));
    return own ?? sections.find((text) => text.includes(`\n${path} `)) ?? '';
  };

  test.each(leaves)('has %s and its options in its section', (path, { options }) => {
    const text = sectionOf(path);
    const [, group = '', ...rest] = path.split(' ');
    expect(rest.length === 0 ? page : text).toMatch(new RegExp(`\\b${[group, ...rest].join(' ')}\\b`));
    const isTold = (name: string): boolean => new RegExp(`${name}(?![\\w-])`).test(text);
    // What all commands share is told once, before them.
    const names = options.flatMap(({ long }) => (long === undefined || long === '--json' ? [] : [long]));
    expect(names.filter((name) => !isTold(name))).toEqual([]);
  });

  test('names every command that has no --json', () => {
    const [, told = ''] = /Every command has it except (.*?), which print JSON anyway/.exec(page) ?? [];
    const named = [...told.matchAll(/`([a-z ]+)`/g)].map(([, name = '']) => name);
    const without = leaves.filter(([, { options }]) => !options.some(({ long }) => long === '--json'));
    expect(
      without.map(([path]) => path).filter((path) => !named.some((name) => path.includes(name))),
    ).toEqual([]);
  });
});
