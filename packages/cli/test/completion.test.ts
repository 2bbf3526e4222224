import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bin, clean, run, workspace } from './tally.ts';

const { at, remove } = workspace();
afterAll(remove);

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;

/** A script with `tally` on its path, and with what `tally completion` prints. */
function inShell(shell: string, script: string): string {
  const env = { ...clean, PATH: `${at('bin')}:${process.env.PATH}`, HOME: at('home') };
  const { stdout, stderr } = spawnSync(shell, ['-c', script], { env, cwd: at('.'), encoding: 'utf8' });
  return stdout + stderr;
}

beforeAll(() => {
  mkdirSync(at('bin'));
  mkdirSync(at('home'));
  const start = `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`;
  writeFileSync(at('bin/tally'), start, { mode: 0o755 });
});

describe('what may come next', () => {
  test.each<[string, string[], string[]]>([
    ['commands', ['me'], ['meter']],
    ['commands of a group', ['trust', 'f'], ['fetch', 'fork', 'forget']],
    ['commands of the server’s package', ['ledger', 're'], ['reconcile']],
    ['both', ['keys', 'r'], ['register', 'rotate', 'revoke']],
    ['options', ['verify', 'x', '--re'], ['--request', '--response']],
    ['the choices of an option', ['emit', '--profile', ''], ['nano', 'standard', 'pq']],
    ['the choices of an argument', ['completion', ''], ['bash', 'zsh', 'fish']],
    ['nothing where a file belongs', ['verify', ''], []],
    ['nothing after an option that takes a text', ['mint', '--text', ''], []],
    ['nothing for what does not exist', ['nonsense', 'x'], []],
  ])('%s', async (_, words, expected) => {
    const { code, stdout, stderr } = await run(['complete', '--', ...words]);
    const offered = stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
    expect({ code, stderr, offered }).toEqual({ code: 0, stderr: '', offered: expected });
  });
});

describe('in a shell', () => {
  test('bash', () => {
    const complete = (words: string, at: number): string =>
      `COMP_WORDS=(${words}); COMP_CWORD=${at}; _tally; echo "\${COMPREPLY[@]}"`;
    const script = [
      'eval "$(tally completion bash)"',
      complete('tally trust f', 2),
      complete("tally emit --profile ''", 3),
      'complete -p tally',
    ];
    expect(inShell('bash', script.join('\n'))).toBe(
      'fetch fork forget\nnano standard pq\ncomplete -o default -F _tally tally\n',
    );
  });

  test.skipIf(!has('zsh'))('zsh (skipped where there is none)', () => {
    const script = [
      'autoload -Uz compinit && compinit -u -D',
      'eval "$(tally completion zsh)"',
      '_describe() { print -rl -- "$1" "${(@P)2}" }',
      '_files() { print files }',
      'words=(tally trust f); CURRENT=3; _tally',
      "words=(tally verify ''); CURRENT=3; _tally",
      'print $_comps[tally]',
    ];
    expect(inShell('zsh', script.join('\n')).split('\n')).toEqual([
      'tally',
      expect.stringMatching(/^fetch:fetch a service’s bundle/),
      expect.stringMatching(/^fork:/),
      expect.stringMatching(/^forget:remove a service’s bundle/),
      'files',
      '_tally',
      '',
    ]);
  });

  test.skipIf(!has('fish'))('fish (skipped where there is none)', () => {
    const script = 'tally completion fish | source; complete -C "tally trust f"';
    expect(inShell('fish', script)).toMatch(
      /^fetch\tfetch a service’s .*\nfork\t.*\nforget\tremove a service’s .*\n$/,
    );
  });
});
