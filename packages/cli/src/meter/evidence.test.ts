import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner, mintEnvelope, parseJson } from '@tallystick/core';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvFields } from './csv.ts';
import { readEvidence } from './evidence.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-evidence-'));
const file = join(folder, 'units');
afterAll(() => rmSync(folder, { recursive: true }));

/** The leaves of a file with this text, and the numbers of their lines. */
const read = (text: string): [number, unknown][] => {
  writeFileSync(file, text);
  return Array.from(readEvidence(file), ({ number, json }) => [number, parseJson(json)]);
};

const hash = (unit: number): string => unit.toString(16).padStart(64, '0');
const leaf = (unit: number) => ({ unit, receipt_sha256: hash(unit) });

let receipt: string;
beforeAll(async () => {
  const none = { hash: null, origin: null, policy_hash: null };
  const facts = {
    request: { ...none, purpose: 'a "pallet", moved' },
    operator: { entity: null, region: null, training_region: null },
    hardware: { class: null, attestation: null },
    response: { hash: null, sealed: null },
    settlement: { chain: null, asset: null, tx: null },
  };
  const issuance = {
    receiptId: 'r_env_1780315200_000000000000',
    issuedAt: 1_780_315_200_000,
    issuerDid: 'did:svc:local',
    issuerVerified: false,
  };
  receipt = await mintEnvelope(facts, issuance, await createSigner(new Uint8Array(32).fill(7)));
  writeFileSync(join(folder, 'receipt.json'), receipt);
});

describe('leaves', () => {
  test('are read from NDJSON across chunks, with either line end, blank lines and no last line end', () => {
    const leaves = Array.from({ length: 5000 }, (_, index) => leaf(index + 1));
    const lines = leaves.map((one) => JSON.stringify(one));
    expect(read(lines.join('\n'))).toEqual(leaves.map((one, index) => [index + 1, one]));
    expect(read(`\n${lines.join('\r\n\r\n')}\r\n`)).toEqual(leaves.map((one, index) => [2 * index + 2, one]));
  });

  test('are read from CSV, with a byte order mark, other columns and rows without evidence', () => {
    expect(read('')).toEqual([]);
    expect(read('unit,receipt_sha256\n')).toEqual([]);
    expect(read(`\uFEFFunit,receipt_sha256\r\n7,${hash(7)}\r\n`)).toEqual([[2, leaf(7)]]);
    expect(read(`receipt_sha256,dock,unit\n,"a, b",1\n${hash(2)},"say ""hi""",2\n`)).toEqual([[3, leaf(2)]]);
  });

  test('hold whole receipts, wherever those are', () => {
    const backed = { unit: 3, receipt: JSON.parse(receipt) };
    const quoted = `"${receipt.replaceAll('"', '""')}"`;
    expect(read(`{"unit":3,"receipt":${receipt}}\n`)).toEqual([[1, backed]]);
    expect(read(`unit,receipt\n3,receipt.json\n`)).toEqual([[2, backed]]);
    expect(read(`unit,receipt\n3,${quoted}\n`)).toEqual([[2, backed]]);
  });

  test('are read no further than is asked', () => {
    writeFileSync(file, `unit,receipt_sha256\n1,${hash(1)}\nno,unit\n`);
    const [first] = readEvidence(file);
    expect(first?.number).toBe(2);
  });
});

describe('what is wrong is named by its line', () => {
  test.each<[string, string, RegExp]>([
    ['no header', `1,${hash(1)}\n`, /units, line 1: .*nor the header of a CSV/],
    [
      'a header with both columns',
      'unit,receipt,receipt_sha256\n',
      /line 1: .*either receipt_sha256 or receipt/,
    ],
    ['a row too short', 'unit,receipt_sha256\n\n7\n', /line 3: The line has 1 fields; the header has 2/],
    ['an open quote', 'unit,receipt\n1,"{\n', /line 2: .*a misplaced quote/],
    ['no number', `unit,receipt_sha256\none,${hash(1)}\n`, /line 2: “one” is not the number of a unit/],
    ['a receipt that is broken', 'unit,receipt\n1,"{"\n', /line 2: .*JSON/],
    ['a file that is not there', 'unit,receipt\n1,nowhere.json\n', /line 2: There is no file nowhere\.json/],
    ['a file that is no JSON', 'unit,receipt\n1,units\n', /line 2: units is not JSON/],
    ['a line too long', `{"unit":1}\n"${'x'.repeat(2 * 1024 * 1024)}"`, /larger than 1 MiB/],
  ])('%s', (_, text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  test('also what is not UTF-8', () => {
    writeFileSync(file, Uint8Array.of(0x75, 0xff));
    expect(() => [...readEvidence(file)]).toThrow(/line 1: The line is not UTF-8/);
  });

  test('a file that is not there', () => {
    expect(() => [...readEvidence(join(folder, 'nowhere'))]).toThrow(/There is no file/);
  });
});

test('CSV fields are read back as they were written (RFC 4180)', () => {
  const field = fc.string({ unit: fc.constantFrom('a', '"', ',', ' ', 'é') });
  fc.assert(
    fc.property(fc.array(fc.tuple(field, fc.boolean()), { minLength: 1 }), (fields) => {
      const line = fields.map(([text, quote]) =>
        quote || /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text,
      );
      expect(csvFields(line.join(','))).toEqual(fields.map(([text]) => text));
    }),
  );
});
