import { expect, it } from 'vitest';
import {
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
import { type BundleProgress, verifyBundle } from './verify-bundle.ts';

const NOW = Date.UTC(2027, 2, 1);
const COUNT = 150;
const issuer = await makeIssuer();
const files = await goodFiles(issuer);
const receipts = await Promise.all(
  Array.from({ length: COUNT }, (_, index) =>
    receiptAt(issuer.receipt, NOW / 1000 - 1000 + index, String(index).padStart(12, '0')),
  ),
);
const contents = [...files.slice(0, 3), ...partOf(1, receipts)];
const manifest = await manifestOf(issuer, contents, (facts) => ({ ...facts, receipts: COUNT, metering: 0 }));
const bundle = zipOf([manifest, ...contents]);

it('of two receipts that do not hold, names the one that comes first', async () => {
  const waiting: (() => void)[] = [];
  // The signatures of the fourth and the seventh are refused, that of the fourth only once the other was.
  const engine: Ed25519Engine = {
    verify(publicKey, message, signature) {
      const text = new TextDecoder().decode(message);
      if (text.includes('_000000000003"')) {
        return new Promise((resolve) => waiting.push(() => resolve(false)));
      }
      if (!text.includes('_000000000006"')) return defaultEngine.verify(publicKey, message, signature);
      setTimeout(() => waiting.forEach((resolve) => resolve()));
      return false;
    },
  };
  await expect(verifyBundle(sourceOf(bundle), { now: NOW, engine })).rejects.toMatchObject({
    reason: 'receipt_invalid',
    message: expect.stringContaining('_000000000003: signature'),
  });
});

it('says how far it is, waits for whom it says it to, and ends where that throws', async () => {
  const said: BundleProgress[] = [];
  let telling = 0;
  const progress = async (done: BundleProgress): Promise<void> => {
    expect(telling).toBe(0);
    telling += 1;
    await new Promise((resolve) => setTimeout(resolve));
    telling -= 1;
    said.push(done);
  };
  const verdict = await verifyBundle(sourceOf(bundle), { now: NOW, progress });
  expect(verdict.receipts).toBe(COUNT);
  expect([...new Set(said.map((done) => done.receipts))]).toEqual([0, 64, 128, COUNT]);
  expect(said.at(-1)).toEqual({ bytes: expect.any(Number), of: bundle.length, receipts: COUNT });
  const stop = (): never => {
    throw new RangeError('Enough.');
  };
  await expect(verifyBundle(sourceOf(bundle), { now: NOW, progress: stop })).rejects.toThrow('Enough.');
});
