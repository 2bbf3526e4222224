import { errorTable, type JsonObject, type JsonValue } from '@tallystick/core';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKey, startTestService, type TestService } from './service.ts';
import { freshSigner, registration } from './statements.ts';

const RUNS = 2000;
const HASH = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';
const FULL_EMIT = {
  agent_did: 'did:web:a',
  input: 'x',
  purpose: 'p',
  content_type: 'text/plain',
  ok: true,
  settlement_reference: { rail: 'x402', chain_id: 1, asset: 'USDC', tx: '0x1' },
  seal: { seal_id: 's', ciphertext_sha256: '0'.repeat(64), key_commitment: '1'.repeat(64) },
  sealed_evidence_ref: null,
  auditor_verifier: true,
};

let service: TestService;
let good: Record<string, JsonObject>;
let key: { authorization: string };
let partner: { authorization: string };
beforeAll(async () => {
  service = await startTestService();
  const receipt = async (path: string, body: unknown) => (await service.post(path, body)).json;
  const statement = await registration('did:svc:acme', await freshSigner(), service.clock());
  good = {
    '/v1/receipt/free': { input: 'x', purpose: 'p' },
    '/v1/receipt/emit?profile=pq': FULL_EMIT,
    '/v1/receipt/emit?profile=nano': { payload: { a: [1, 'b'] } },
    '/v1/receipt/verify': await receipt('/v1/receipt/free', { input: 'x', purpose: 'p' }),
    '/v1/receipts/verify': {
      receipts: [await receipt('/v1/receipt/emit?profile=pq', FULL_EMIT), { receipt: {}, evidence: [] }],
    },
    '/v1/rubric/select': {
      intent: 'sell',
      amount: '1.5',
      counterparty: { did: 'did:web:a', regulated: true },
    },
    '/v1/issuers': statement,
    '/v1/anchor': { canonical_sha256: HASH },
    '/v1/rosetta/normalize': {
      jurisdiction: 'eu',
      policy: [
        { concept: 'retention', days: 400, period_disclosed: true },
        { concept: 'purpose', basis: 'consent' },
      ],
      targets: ['in', 'us-ca'],
    },
    '/v1/anchor/batch': { canonical_sha256: [HASH, HASH.replace('n', 'm')] },
  };
  key = await apiKey(service, 'enterprise');
  partner = await apiKey(service, 'partner');
});
afterAll(() => service.close());

const WEIRD: readonly JsonValue[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  2 ** 53 - 1,
  '',
  'did:',
  'did:key:z6Mk',
  '__proto__',
  '\u0000',
  'ü'.repeat(700),
  [],
  {},
  [[]],
  { receipt: null },
  '2027-03-01T12:00:00Z',
  'sha256:',
  '-'.repeat(86),
  '9'.repeat(400),
];

/** Every place in a JSON value, as a path of member names and indexes. */
function places(value: JsonValue, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => places(inner, [...path, name]))];
}

function replaced(
  value: JsonValue,
  [step, ...rest]: string[],
  by: JsonValue | undefined,
): JsonValue | undefined {
  if (step === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as JsonObject) }) as JsonObject;
  const inner = replaced(copy[step] ?? null, rest, by);
  if (inner !== undefined) copy[step] = inner;
  else if (Array.isArray(copy)) copy.splice(Number(step), 1);
  else delete copy[step];
  return copy;
}

/** A body that is nearly good: one to three of its places are removed, or hold something else. */
function nearly(body: JsonObject): fc.Arbitrary<string> {
  const edit = fc.tuple(
    fc.constantFrom(...places(body)),
    fc.option(fc.oneof(fc.constantFrom(...WEIRD), fc.jsonValue()), { nil: undefined }),
  );
  return fc.array(edit, { minLength: 1, maxLength: 3 }).map((edits) => {
    let edited: JsonValue | undefined = body;
    for (const [path, by] of edits) edited = replaced(edited ?? null, path, by as JsonValue | undefined);
    return JSON.stringify(edited) ?? '';
  });
}

/** The text of a body with a few of its bytes changed. */
function garbled(body: JsonObject): fc.Arbitrary<Uint8Array> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 }));
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    const copy = Uint8Array.from(bytes);
    for (const [at, byte] of changes) copy[at] = byte;
    return copy;
  });
}

describe('whatever is sent, the answer is a verdict, a receipt or a known refusal', () => {
  it.each([
    '/v1/receipt/free',
    '/v1/receipt/emit?profile=pq',
    '/v1/receipt/emit?profile=nano',
    '/v1/receipt/verify',
    '/v1/receipts/verify',
    '/v1/rubric/select',
    '/v1/issuers',
    '/v1/anchor',
    '/v1/anchor/batch',
    '/v1/rosetta/normalize',
  ])('POST %s', async (path) => {
    const body = good[path] as JsonObject;
    const arbitrary = fc.oneof(
      { weight: 5, arbitrary: nearly(body) },
      { weight: 2, arbitrary: garbled(body) },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) },
    );
    await fc.assert(
      fc.asyncProperty(arbitrary, async (sent) => {
        const { status, json, text } = await service.post(
          path,
          sent,
          path.includes('rosetta') ? partner : key,
        );
        if (status === 200 || status === 201) return;
        expect(status, text).toBeLessThan(500);
        expect(errorTable, text).toHaveProperty(json.code as string);
      }),
      { numRuns: RUNS },
    );
  });
});
