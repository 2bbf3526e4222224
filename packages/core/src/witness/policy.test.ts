import { expect, it } from 'vitest';
import { signerOf } from '../../test/sample-receipts.ts';
import { defaultEngine } from '../ed25519/engines.ts';
import { signCheckpoint } from '../log/checkpoint.ts';
import { cosignCheckpoint, withSignature, witnessKey } from '../log/cosignature.ts';
import { noteKeyHash } from '../log/note.ts';
import { parseWitnessPolicy } from './policy.ts';

it('counts no other log in the place of one whose key is of an unknown type', async () => {
  const [log, witness] = [await signerOf(1), await signerOf(2)];
  const head = await signCheckpoint({ origin: 'known.example', size: 2, root: new Uint8Array(32) }, log);
  const line = await cosignCheckpoint(head, { name: 'w.example', signer: witness }, 1_800_000_000);
  const note = withSignature(head, line);
  const known = [{ origin: 'known.example', publicKey: log.publicKey }];
  const judged = async (...lines: readonly string[]): Promise<boolean> => {
    const own = [`witness w ${witnessKey('w.example', witness.publicKey)}`, 'quorum w'];
    const policy = parseWitnessPolicy([...lines, ...own].join('\n'));
    return (await policy.judge(note, known, defaultEngine)).witnessed.satisfied;
  };
  const key = new Uint8Array(40).fill(9);
  const id = noteKeyHash('only.example', 0x77, key).toString(16).padStart(8, '0');
  const encoded = Buffer.from([0x77, ...key]).toString('base64');
  expect(await judged()).toBe(true);
  expect(await judged(`log only.example+${id}+${encoded}`)).toBe(false);
});
