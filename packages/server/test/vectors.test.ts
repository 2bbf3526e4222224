import { isObject, parseJson, type Verification } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GateCase } from '../../../scripts/vectors/gate.ts';
import {
  bundleOf,
  bytesOf,
  expectAsInCore,
  type FiledCase,
  type Outcome,
  readVectors,
  receiptCases,
  stores,
} from '../../core/test/receipt-vectors.ts';
import { type Reply, startTestService, type TestService, testClock } from './service.ts';

const ONE = '/v1/receipt/verify';
const MANY = '/v1/receipts/verify';
const BATCH = 100;

/** The service as it is where a bundle is published that vouches for these issuers, at this time. */
async function serviceThatKnows({ trust: store, now }: Pick<FiledCase, 'trust' | 'now'>) {
  const service = await startTestService({ clock: testClock(Date.parse(now)) });
  const { store: documents } = service.services;
  expect(await documents.putDocument('trust', 2, await bundleOf(stores[store], 2))).toBe('stored');
  for (const { trust } of service.processes) await trust.refresh();
  return service;
}

function bodyOf(vector: FiledCase): Buffer<ArrayBuffer> {
  const { document, evidence } = vector;
  return evidence === undefined
    ? bytesOf(vector)
    : Buffer.from(JSON.stringify({ receipt: document, evidence }));
}

/** A verdict, or the code of a problem document. */
function outcomeOf({ status, json, text }: Reply): Outcome<Verification> {
  return status === 200 ? (JSON.parse(text) as Verification) : { code: json.code as string };
}

const isOfNoFamily = ({ expected }: FiledCase): boolean => 'family' in expected && expected.family === null;

/** What is readable but no receipt is refused where it comes alone. */
function refusalOf(vector: Parameters<typeof bytesOf>[0]): { code: string } {
  return { code: isObject(parseJson(bytesOf(vector))) ? 'not_a_receipt' : 'invalid_field' };
}

const groups = Map.groupBy(receiptCases, ({ trust, now }) => `${trust} at ${now}`);

describe.each([...groups])('issuers %s', (_, cases) => {
  let service: TestService;
  beforeAll(async () => {
    const [first] = cases;
    if (first !== undefined) service = await serviceThatKnows(first);
  });
  afterAll(() => service.close());

  it.each(cases.filter((one) => !isOfNoFamily(one)))('$file: $name', async (vector) => {
    await expectAsInCore(outcomeOf(await service.post(ONE, bodyOf(vector))), vector);
  });

  it.each(cases.filter(isOfNoFamily))('$file: $name, which is no receipt', async (vector) => {
    expect(outcomeOf(await service.post(ONE, bodyOf(vector)))).toEqual(refusalOf(vector));
  });

  it('in batches', async () => {
    const readable = cases.filter(({ expected }) => !('code' in expected));
    for (let start = 0; start < readable.length; start += BATCH) {
      const batch = readable.slice(start, start + BATCH);
      const { json } = await service.post(MANY, `{"receipts":[${batch.map(bodyOf).join()}]}`);
      const results = json.results as unknown as Verification[];
      expect(results).toHaveLength(batch.length);
      for (const [index, vector] of batch.entries()) {
        await expectAsInCore(results[index] as Verification, vector);
      }
    }
  });
});

describe('json-gate.json', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.close());

  it.each(readVectors<GateCase>('json-gate.json'))('$name', async (vector) => {
    const found = outcomeOf(await service.post(ONE, bytesOf(vector)));
    expect(found).toEqual('code' in vector.expected ? vector.expected : refusalOf(vector));
  });
});
