import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { writeAtomically } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.skipIf(process.getuid?.() !== 0)(
  'a file that root writes anew keeps its owner and group (runs only as root)',
  () => {
    const path = join(folder, 'tally.config.json');
    writeFileSync(path, '{}');
    chownSync(path, 64_123, 64_124);
    writeAtomically(path, '{"models":[]}', 0o600);
    expect(readFileSync(path, 'utf8')).toBe('{"models":[]}');
    expect(statSync(path)).toMatchObject({ uid: 64_123, gid: 64_124 });
  },
);
