import { expect, it } from 'vitest';
import { createSigner } from '../../ed25519/signer.ts';
import type { JsonObject } from '../../json/types.ts';
import { verifyForeign } from '../verify-foreign.ts';
import { signActa } from './sign.ts';

const NOW = 1_790_000_000_000;
const signer = await createSigner(new Uint8Array(32).fill(3));

async function chain(length: number): Promise<string[]> {
  const lines: string[] = [];
  for (let number = 1; number <= length; number++) {
    const before = lines.length === 0 ? null : (JSON.parse(lines.at(-1) ?? '') as JsonObject);
    const decision = number === 2 ? 'deny' : 'allow';
    const context = { receipt_id: `r${number}` };
    lines.push(
      await signActa({ decision, tool: 'read', policyId: null, context }, before, { signer, now: NOW }),
    );
  }
  return lines;
}

const judge = (lines: readonly string[]) =>
  verifyForeign(lines.map((line) => `${line}\n`).join(''), { now: NOW, keys: [signer.keyId] });
const failures = async (lines: readonly string[]): Promise<string[]> =>
  ((await judge(lines))?.checks ?? []).filter(({ ok }) => ok === false).map(({ name }) => name);

it('signs a chain that verifies as Acta, by the pinned key', async () => {
  const verdict = await judge(await chain(3));
  expect(verdict).toMatchObject({ family: 'acta', valid: true });
  expect(verdict?.checks).toContainEqual(expect.objectContaining({ name: 'chain', ok: true }));
  expect(verdict?.checks).toContainEqual(expect.objectContaining({ name: 'sequence', ok: true }));
});

it('signs what can’t be changed or left out', async () => {
  const lines = await chain(3);
  const [first = '', second = '', third = ''] = lines;
  expect(await failures([first, second.replace('"deny"', '"allow"'), third])).toContain('signature');
  expect(await failures([first, third])).toEqual(expect.arrayContaining(['chain', 'sequence']));
  expect(await failures(lines)).toEqual([]);
});
