import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signerOf } from '../../test/sample-receipts.ts';
import { fromBase64, toBase64 } from '../encoding/base64.ts';
import { toUint64, uint64At } from '../encoding/uint64.ts';
import { emptyRoot } from '../merkle/hash.ts';
import { anchoredRef, batchId, parseAnchorRef, parseShortId, pendingRef, shortId } from './anchor-ref.ts';
import { checkpointText, openCheckpoint, parseCheckpointText, signCheckpoint } from './checkpoint.ts';
import { checkCosignature, cosignCheckpoint, withSignature } from './cosignature.ts';
import { parseNote } from './note.ts';
import { decodePosting, encodePosting } from './posting.ts';
import { formatTlogProof, parseTlogProof } from './tlog-proof.ts';

const coded = (code: string): unknown => expect.objectContaining({ code }) as unknown;
const signer = await signerOf(1);
const witness = await signerOf(3);
const origin = 'example.com/log';
const head = { origin, size: 5, root: emptyRoot() };
const note = await signCheckpoint(head, signer);
const index = fc.nat(Number.MAX_SAFE_INTEGER);
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('base64 is its own inverse, and nothing else is read', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
      expect(fromBase64(toBase64(bytes))).toEqual(bytes);
    }),
  );
  fc.assert(
    fc.property(fc.base64String(), (text) => {
      expect(toBase64(fromBase64(text) ?? new Uint8Array(0))).toBe(fromBase64(text) === null ? '' : text);
    }),
  );
  for (const text of ['=', 'A', 'AA', 'AA=', 'AAA', 'AB==', 'AAB=', 'AAAA=', '-_8=', 'AA AA', 'AAAA\n']) {
    expect(fromBase64(text)).toBeNull();
  }
});

test('64-bit integers are read up to 2^53-1, wherever they stand', () => {
  fc.assert(
    fc.property(index, (value) => {
      expect(uint64At(toUint64(value), 0)).toBe(value);
    }),
  );
  const bytes = Uint8Array.of(9, 9, 0, 32, 0, 0, 0, 0, 0, 0);
  expect(uint64At(bytes.subarray(1), 1)).toBeNull();
  expect(uint64At(Uint8Array.of(9, 0, 31, 255, 255, 255, 255, 255, 255).subarray(1), 0)).toBe(2 ** 53 - 1);
});

describe('anchor references', () => {
  test('short ids are their own inverse', () => {
    fc.assert(
      fc.property(index, (value) => {
        expect(parseShortId(shortId(value))).toBe(value);
      }),
    );
    expect(() => parseShortId('01')).toThrow(coded('anchor_ref_invalid'));
  });

  test('so are references', () => {
    const minute = fc.nat(4_000_000_000);
    fc.assert(
      fc.property(minute, index, (batchAt, leaf) => {
        const expected = { kind: 'pending', batchId: batchId(batchAt), index: leaf };
        expect(parseAnchorRef(pendingRef(batchAt, leaf))).toEqual(expected);
      }),
    );
    fc.assert(
      fc.property(index, index, (blockHeight, leaf) => {
        const place = { network: 'base', blockHeight, txHash: `0x${'ab'.repeat(32)}`, index: leaf };
        expect(parseAnchorRef(anchoredRef(place))).toEqual({ kind: 'anchored', ...place });
      }),
    );
  });

  test('a batch is named by its minute', () => {
    expect(batchId(Date.UTC(2026, 10, 21, 12, 0, 59) / 1000)).toBe('2026-11-21T12:00Z');
  });
});

describe('checkpoints', () => {
  test('reading is the inverse of writing', () => {
    fc.assert(
      fc.property(index, hash, (size, root) => {
        const checkpoint = { origin, size, root };
        expect(parseCheckpointText(checkpointText(checkpoint))).toEqual(checkpoint);
      }),
    );
  });

  test.each([
    { origin: '' },
    { origin: 'a\nb' },
    { size: -1 },
    { size: 1.5 },
    { size: 2 ** 53 },
    { root: new Uint8Array(31) },
  ])('%j makes none', (change) => {
    expect(() => checkpointText({ ...head, ...change })).toThrow(coded('checkpoint_invalid'));
  });

  test('an origin that is no key name can’t be signed', async () => {
    await expect(signCheckpoint({ ...head, origin: 'a b' }, signer)).rejects.toEqual(coded('note_invalid'));
  });

  test('one signature is added for each key, the newer in place of the older', async () => {
    const cosigner = { name: 'w.example', signer: witness };
    const key = { name: 'w.example', publicKey: witness.publicKey };
    const first = withSignature(note, await cosignCheckpoint(note, cosigner, 10));
    const second = withSignature(first, await cosignCheckpoint(note, cosigner, 20));
    expect(parseNote(second).signatures.map(({ name }) => name)).toEqual([origin, 'w.example']);
    expect([await checkCosignature(note, key), await checkCosignature(second, key)]).toEqual([null, 20]);
    expect(await openCheckpoint(second, { origin, publicKey: signer.publicKey })).toEqual(head);
    for (const line of ['', 'not a line\n', `${first.split('\n\n')[1]}`]) {
      expect(() => withSignature(note, line)).toThrow(coded('note_invalid'));
    }
  });

  test('a witness signs at a whole second', async () => {
    for (const time of [-1, 0.5, 2 ** 53]) {
      const line = cosignCheckpoint(note, { name: 'w.example', signer: witness }, time);
      await expect(line).rejects.toEqual(coded('invalid_field'));
    }
    const named = cosignCheckpoint(note, { name: 'w example', signer: witness }, 1);
    await expect(named).rejects.toEqual(coded('note_invalid'));
  });
});

describe('postings', () => {
  test('decoding is the inverse of encoding', () => {
    fc.assert(
      fc.property(index, hash, (size, root) => {
        expect(decodePosting(encodePosting({ origin, size, root }))).toMatchObject({ size, root });
      }),
    );
  });

  test('calldata of another length or form hold none', () => {
    const data = encodePosting(head);
    for (const other of [
      new Uint8Array(0),
      data.slice(0, 13),
      data.slice(0, -1),
      Uint8Array.of(...data, 0),
    ]) {
      expect(decodePosting(other)).toBeNull();
    }
    expect(decodePosting(data.with(0, 0))).toBeNull();
    expect(decodePosting(data.with(45, 1))).toBeNull();
  });

  test('of what is no checkpoint there is none', () => {
    expect(() => encodePosting({ ...head, size: 2 ** 53 })).toThrow(coded('checkpoint_invalid'));
  });
});

describe('tlog-proofs', () => {
  test('reading is the inverse of writing', () => {
    const path = fc.array(hash, { maxLength: 53 });
    fc.assert(
      fc.property(index, path, fc.uint8Array({ minLength: 1 }), (at, hashes, extra) => {
        const proof = { index: at, path: hashes, checkpoint: note, extra };
        expect(parseTlogProof(formatTlogProof(proof))).toEqual(proof);
      }),
    );
  });

  test.each([
    { index: -1 },
    { index: 0.5 },
    { path: [new Uint8Array(31)] },
    { path: Array.from({ length: 54 }, () => new Uint8Array(32)) },
    { checkpoint: 'none' },
    { extra: new Uint8Array(0) },
    { extra: new Uint8Array(262_144) },
    { index: 2 ** 53 },
  ])('%# makes none', (change) => {
    const proof = { index: 1, path: [], checkpoint: note, ...change };
    expect(() => formatTlogProof(proof)).toThrow(coded('tlog_proof_invalid'));
  });
});
