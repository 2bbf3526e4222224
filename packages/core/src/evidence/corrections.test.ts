import { expect, it } from 'vitest';
import {
  AT,
  billAt,
  correcting,
  envelopeAt,
  goodFiles,
  makeIssuer,
  manifestOf,
  partOf,
  receiptAt,
  sourceOf,
  zipOf,
} from '../../test/evidence-bundle.ts';
import { defaultEngine } from '../ed25519/engines.ts';
import type { Ed25519Engine } from '../ed25519/profile.ts';
import { verifyBundle } from './verify-bundle.ts';

const SECOND = AT / 1000 - 90_000;
const issuer = await makeIssuer();
const others = (await goodFiles(issuer)).slice(0, 3);
const [first, second, third] = await Promise.all(
  ['a', 'b', 'c'].map((suffix) => envelopeAt(issuer.receipt, SECOND, suffix)),
);
const [bill, laterBill] = await Promise.all([0, 1].map((more) => billAt(issuer.receipt, SECOND + more)));
const linked = (suffix: string, corrects = '', correction = ''): Promise<string> =>
  envelopeAt(issuer.receipt, SECOND + 60, suffix, correcting(corrects, correction));
const [forward, other, back, next, billed] = await Promise.all([
  linked('1', first, second),
  linked('2', first, third),
  linked('3', second, first),
  linked('4', second, third),
  linked('5', bill, laterBill),
]);

/** A bundle with a part for each of the lists. */
async function bundleOf(parts: readonly (readonly (string | undefined)[])[]): Promise<Uint8Array> {
  const texts = parts.map((part) => part.filter((text) => text !== undefined));
  const files = [...others, ...texts.flatMap((part, index) => partOf(index + 1, part))];
  const all = texts.flat();
  const metering = all.filter((text) => text.includes('"sls.metering"')).length;
  return zipOf([
    await manifestOf(issuer, files, (facts) => ({ ...facts, receipts: all.length, metering })),
    ...files,
  ]);
}

const NONE = { superseded: 0, corrections: [] };
const good = { valid: true, trusted: true, faults: [] };
const CASES = [
  ['without a link', [[first, second]], NONE],
  [
    'with a link in the part of its receipts',
    [[first, second, forward]],
    { superseded: 1, corrections: [good] },
  ],
  [
    'with a link in another part',
    [[first], [second], [forward]],
    { superseded: 1, corrections: [{ ...good, reason: 'The count was wrong.' }] },
  ],
  [
    'with a link before the bills that it names',
    [[billed], [bill, laterBill]],
    { superseded: 1, corrections: [{ corrects: { state: 'valid' }, correction: { state: 'valid' } }] },
  ],
  ['with a chain', [[first, second, third, forward, next]], { superseded: 2, corrections: [good, good] }],
  [
    'without the correction',
    [[first, forward]],
    { superseded: 1, corrections: [{ ...good, correction: { state: 'not_given' } }] },
  ],
  [
    'without the receipt that is superseded',
    [[second, forward]],
    { superseded: 0, corrections: [{ ...good, corrects: { state: 'not_given' } }] },
  ],
  [
    'with two links for one receipt',
    [
      [first, second, third],
      [forward, other],
    ],
    {
      superseded: 0,
      corrections: [
        { valid: false, faults: [expect.stringContaining('names another correction of r_env_')] },
        { valid: false, faults: [expect.stringContaining('names another correction of r_env_')] },
      ],
    },
  ],
  [
    'with a circle',
    [[first, second, forward, back]],
    { superseded: 0, corrections: [{ valid: false }, { valid: false }] },
  ],
] as const;

it.each(CASES)('%s, a bundle is intact and says what its links say', async (_, parts, expected) => {
  const found = await verifyBundle(sourceOf(await bundleOf(parts)), { now: AT + 1000 });
  expect(found).toMatchObject({ receipts: parts.flat().length, untrusted: 0, ...expected });
});

it('verifies no receipt once more for a link', async () => {
  const checked: string[] = [];
  const engine: Ed25519Engine = {
    verify(publicKey, message, signature) {
      checked.push(new TextDecoder().decode(message));
      return defaultEngine.verify(publicKey, message, signature);
    },
  };
  const bundle = await bundleOf([[first, second, forward]]);
  await verifyBundle(sourceOf(bundle), { now: AT + 1000, engine });
  expect(checked.filter((message) => message.includes('"r_env_')).length).toBe(3);
});

it('a receipt of a family that can’t be corrected is not looked for', async () => {
  const parts = [[await receiptAt(issuer.receipt, SECOND - 1, '00000000000a'), first, second, forward]];
  const { receipts, superseded } = await verifyBundle(sourceOf(await bundleOf(parts)), { now: AT + 1000 });
  expect({ receipts, superseded }).toEqual({ receipts: 4, superseded: 1 });
});
