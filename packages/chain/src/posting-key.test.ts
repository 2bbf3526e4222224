import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createPostingKey, readPostingKey } from './posting-key.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-posting-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a posting key', () => {
  const made = join(folder, 'made', 'posting.key');

  it('is made once, for its owner alone', () => {
    createPostingKey(made);
    const text = readFileSync(made, 'utf8');
    createPostingKey(made);
    expect(readFileSync(made, 'utf8')).toBe(text);
    expect(statSync(made).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'made'))).toEqual(['posting.key']);
    expect(Buffer.from(readPostingKey(made)).toString('hex')).toBe(text.trim());
  });

  it('is refused when others may read it', () => {
    createPostingKey(made);
    chmodSync(made, 0o640);
    expect(() => readPostingKey(made)).toThrow(expect.objectContaining({ code: 'invalid_field' }));
  });

  it.skipIf(process.getuid?.() !== 0)(
    'may be read by a group where it is another user’s (runs only as root)',
    () => {
      rmSync(made, { force: true });
      createPostingKey(made);
      chownSync(made, 64_123, 0);
      chmodSync(made, 0o440);
      expect(readPostingKey(made)).toHaveLength(32);
      chmodSync(made, 0o444);
      expect(() => readPostingKey(made)).toThrow('Other users can read the posting key');
    },
  );

  function read(name: string, text: string): Uint8Array {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return readPostingKey(path);
  }

  it('may be written as other tools do', () => {
    expect(read('prefixed', `0x${'Ab'.repeat(32)}`)).toEqual(new Uint8Array(32).fill(0xab));
  });

  it.each([
    ['short', 'ab'.repeat(31)],
    ['long', 'ab'.repeat(33)],
    ['not-hex', 'xy'.repeat(32)],
    ['empty', ''],
  ])('is 32 bytes in hex, and so not %s', (name, text) => {
    expect(() => read(name, text)).toThrow(/is not 32 bytes in hex/);
  });
});
