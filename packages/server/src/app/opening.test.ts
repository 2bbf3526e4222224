import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { requirePrivateFiles } from './opening.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-opening-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, 'keyring.json');
const lines: string[] = [];
const logger = { warn: (...given: unknown[]) => void lines.push(String(given.at(-1))) };
const check = (mode: 'development' | 'production', exposedFiles: readonly string[] = []): void =>
  requirePrivateFiles({ mode, keyring: { path }, exposedFiles }, logger);

beforeEach(() => {
  lines.length = 0;
  writeFileSync(path, '{}');
  chmodSync(path, 0o600);
});

describe('the files with secrets', () => {
  it('are all right where only their owner reads them, or the keyring is still to be made', () => {
    check('production');
    rmSync(path);
    check('production');
    expect(lines).toEqual([]);
  });

  it('include the keyring, which production refuses where others may read it', () => {
    chmodSync(path, 0o640);
    const problem = `Other users can read the keyring ${path}. Make it private: chmod 600 ${path}`;
    expect(() => check('production')).toThrow(problem);
    check('development');
    expect(lines).toEqual([problem]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'may be a group’s where they are another user’s (runs only as root)',
    () => {
      chownSync(path, 64_123, 0);
      chmodSync(path, 0o440);
      check('production');
      chmodSync(path, 0o444);
      expect(() => check('production')).toThrow('Other users can read');
    },
  );

  it('are named where everybody may read them', () => {
    check('production', ['/run/secrets/passphrase']);
    expect(lines).toEqual([
      'Every user of this machine can read the secret in /run/secrets/passphrase. Take that right away: chmod o= /run/secrets/passphrase',
    ]);
  });
});
