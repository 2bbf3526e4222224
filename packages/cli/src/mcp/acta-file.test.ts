import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createSigner, utf8 } from '@tallystick/core';
import { verifyForeign } from '@tallystick/core/foreign';
import { expect, onTestFinished, test } from 'vitest';

const SECRET = 7;

test('a receipt for which there is no room leaves nothing behind, and the chain goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-acta-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const code = `const { createSigner } = await import('@tallystick/core');
    const { withActa } = await import(process.argv[1]);
    const session = { begin: async () => ({ number: 1 }), end: async () => '{"receipt_id":"x"}' };
    const signer = await createSigner(new Uint8Array(32).fill(${SECRET}));
    const recorder = withActa(session, process.argv[2], { signer, policy: {} });
    const call = async (tool) => recorder.end(await recorder.begin({ tool }), { outcome: 'completed' });
    const said = (tool) => call(tool).then(() => 'kept', ({ code }) => code);
    console.log(await said('a'), await said('b'.repeat(99_999)), await said('c'));`;
  // No file gets more than some kilobytes, as on a disk that is almost full.
  const limited = `trap '' XFSZ; ulimit -f 8; exec "$0" --input-type=module --eval "$@"`;
  const args = [code, new URL('acta-file.ts', import.meta.url).href, join(folder, 's.jsonl')];
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, ...args], {
    cwd: import.meta.dirname,
  });
  expect(stdout).toBe('kept EFBIG kept\n');
  const text = readFileSync(join(folder, 's.acta.jsonl'), 'utf8');
  const { keyId } = await createSigner(new Uint8Array(32).fill(SECRET));
  const verdict = await verifyForeign(utf8(text), { now: Date.now(), keys: [keyId] });
  expect(text.trimEnd().split('\n')).toHaveLength(2);
  expect(verdict).toMatchObject({ valid: true, issuer: { trusted: true } });
});
