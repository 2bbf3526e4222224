import { request } from 'node:http';
import { type EvidenceLeaf, type JsonObject, type JsonValue, trustOf, verify } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { purgeExpired } from '../../../receipts/src/retention.ts';
import { expectSchema } from '../../test/schemas.ts';
import {
  expectProblem,
  type Reply,
  receiptIdOf,
  startTestService,
  type TestService,
  toReply,
} from '../../test/service.ts';

const PATH = '/v1/receipt/metering';
const NDJSON = { 'content-type': 'application/x-ndjson' };

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const hex = (digit: string): string => digit.repeat(64);
const leaf = (unit: number): EvidenceLeaf => ({ receipt_sha256: unit.toString(16).padStart(64, '0'), unit });
const leaves = (count: number): EvidenceLeaf[] =>
  Array.from({ length: count }, (_, index) => leaf(index + 1));

let bills = 0;
/** A bill for 7 units of a machine of its own, whose window closed long ago. */
function freshBill(changes: JsonObject = {}): JsonObject {
  bills += 1;
  return {
    machine_commitment: bills.toString(16).padStart(64, '0'),
    customer_commitment: hex('2'),
    salt_commitment: hex('3'),
    window_start: '2027-01-01T00:00:00Z',
    window_end: '2027-01-15T00:00:00Z',
    service_unit: 'pick',
    billed_unit_count: 7,
    rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: hex('4') },
    ...changes,
  };
}

const lineText = (value: JsonValue): string => JSON.stringify(value);
const linesOf = (bill: JsonObject, evidence: readonly JsonValue[]): string =>
  [bill, ...evidence].map(lineText).join('\n');

type Form = (
  bill: JsonObject,
  evidence: readonly JsonValue[],
  headers?: Record<string, string>,
) => Promise<Reply>;
const asJson: Form = (bill, evidence, headers) =>
  service.post(PATH, { ...bill, evidence: [...evidence] }, headers);
const asLines: Form = (bill, evidence, headers = {}) =>
  service.post(PATH, `${linesOf(bill, evidence)}\n`, { ...NDJSON, ...headers });
const FORMS = [
  ['JSON', asJson, (index: number) => `evidence[${index}]`],
  ['NDJSON', asLines, (index: number) => `line ${index + 2}`],
] as const;

function stream(chunks: Iterable<string | Uint8Array>): RequestInit {
  const source = chunks[Symbol.iterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value, done } = source.next();
      if (done === true) controller.close();
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
    },
  });
  return { method: 'POST', headers: NDJSON, body, duplex: 'half' } as RequestInit;
}

/** A bill and its leaves in chunks of a thousand lines. */
function* manyLines(
  bill: JsonObject,
  count: number,
  change: (line: string, number: number) => string = (line) => line,
) {
  yield `${lineText(bill)}\n`;
  for (let unit = 1; unit <= count; ) {
    let chunk = '';
    for (const end = Math.min(count, unit + 999); unit <= end; unit++) {
      chunk += `${change(lineText(leaf(unit)), unit + 1)}\n`;
    }
    yield chunk;
  }
}

describe.each(FORMS)('a bill as %s', (_form, send, path) => {
  it('is minted, stored, and verifies with its evidence as the issuer’s', async () => {
    const reply = await send(freshBill(), leaves(5));
    expect(reply.status, reply.text).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.headers.get('x-receipt-profile')).toBe('metering');
    expect(reply.headers.get('x-receipt-schema-version')).toBe('r1.0.0');
    expectSchema('metering', reply.json);
    expect(reply.json).toMatchObject({
      key_id: service.services.issuer.signer('receipt').keyId,
      signed_body: {
        compiled_at: '2027-03-01T12:00:00.250Z',
        metered: { billed_unit_count: 7, evidence_backed_unit_count: 5, unbacked_unit_count: 2 },
        coverage_class: 'majority_evidence_backed',
        amount_minor: 1750,
      },
    });
    const record = (await service.get('/.well-known/issuers/did:svc:local.json')).json;
    const options = { now: service.clock(), trust: trustOf([record as never]), evidence: leaves(5) };
    expect(await verify(reply.json, options)).toMatchObject({ valid: true, issuer: { trusted: true } });
    expect((await service.get(`/v1/receipt/${receiptIdOf(reply.text)}`)).text).toBe(reply.text);
  });

  it.each<
    [string, JsonObject, JsonValue[], Parameters<typeof expectProblem>[1], readonly [number, string] | string]
  >([
    ['a unit twice', {}, [leaf(1), { ...leaf(2), unit: 1 }], 'metering_unit_twice', [1, '.unit']],
    [
      'a receipt twice',
      {},
      [leaf(1), { ...leaf(1), unit: 2 }],
      'metering_receipt_twice',
      [1, '.receipt_sha256'],
    ],
    ['a unit that was not billed', {}, [leaf(8)], 'metering_unit_range', [0, '.unit']],
    ['one leaf too many', { billed_unit_count: 1 }, leaves(2), 'metering_unit_range', [1, '']],
    ['a malformed leaf', {}, [leaf(1), { unit: 2 }], 'invalid_field', [1, '.receipt_sha256']],
    ['a leaf with another member', {}, [{ ...leaf(1), note: 1 }], 'invalid_field', [0, '.note']],
    [
      'a claim that disagrees',
      { evidence_backed_unit_count: 6 },
      leaves(5),
      'metering_derived_mismatch',
      'evidence_backed_unit_count',
    ],
    [
      'a nested claim that disagrees',
      { metered: { unbacked_unit_count: 1 } },
      leaves(5),
      'metering_derived_mismatch',
      'metered.unbacked_unit_count',
    ],
    [
      'a promoted verdict',
      { verdict: 'metered_units_fully_evidence_backed' },
      leaves(5),
      'metering_derived_mismatch',
      'verdict',
    ],
    ['an open window', { window_end: '2027-03-02T00:00:00Z' }, [], 'metering_compiled_early', 'compiled_at'],
    [
      'an early bill',
      { compiled_at: '2027-01-14T23:59:59.999999999Z' },
      [],
      'metering_compiled_early',
      'compiled_at',
    ],
    [
      'a bill of the future',
      { compiled_at: '2027-03-01T12:05:01Z' },
      [],
      'metering_compiled_late',
      'compiled_at',
    ],
    ['an empty window', { window_end: '2027-01-01T00:00:00Z' }, [], 'metering_window', 'window_end'],
    ['an unknown member', { note: 1 }, [], 'unknown_field', 'note'],
    [
      'an unknown member of rate',
      { rate: { unit_rate_minor: 1, currency: 'EUR', rate_commitment: hex('4'), x: 1 } },
      [],
      'unknown_field',
      'rate.x',
    ],
    ['a wrong commitment', { machine_commitment: 'SN-1' }, [], 'invalid_field', 'machine_commitment'],
    ['a wrong time', { window_end: 'yesterday' }, [], 'invalid_field', 'window_end'],
  ])('is refused with %s', async (_what, changes, evidence, code, at) => {
    const put = vi.spyOn(service.services.store, 'putReceipt');
    const reply = await send(freshBill(changes), evidence);
    expectProblem(reply, code, reply.json.field as string);
    expect(reply.json.field).toBe(typeof at === 'string' ? at : path(at[0]) + at[1]);
    expect(put).not.toHaveBeenCalled();
    put.mockRestore();
  });

  it('that was compiled before the key was in use is minted, and trusted', async () => {
    const reply = await send(freshBill({ compiled_at: '2027-02-28T12:00:00Z' }), leaves(5));
    expect(reply.status, reply.text).toBe(200);
    const verdict = (await service.post('/v1/receipt/verify', reply.text)).json;
    expect(verdict).toMatchObject({ valid: true, issuer: { trusted: true } });
    expect(verdict.checks).toContainEqual({
      name: 'key_window',
      ok: true,
      detail: expect.stringContaining('so it was signed later'),
    });
  });

  it('is the same receipt for the same key, and for the same instant', async () => {
    const key = { 'idempotency-key': `bill-${path(0).replace(' ', '-')}` };
    const bill = freshBill();
    const first = await send(bill, leaves(5), key);
    const again = await send(bill, leaves(5));
    expect(again.text).toBe(first.text);
    service.clock.advance(1000);
    for (const other of [asJson, asLines]) {
      const reply = await other(bill, leaves(5), key);
      expect(reply.text).toBe(first.text);
      expect(reply.headers.get('idempotency-replayed')).toBe('true');
    }
    expectProblem(await send(bill, leaves(4), key), 'idempotency_key_reused');
    expectProblem(await send({ ...bill, billed_unit_count: 8 }, leaves(5), key), 'idempotency_key_reused');
    const later = await send(bill, leaves(5));
    expect(later.json.receipt_id).not.toBe(first.json.receipt_id);
    service.clock.advance(-1000);
  });
});

describe('lines', () => {
  const bill = freshBill();
  const text = linesOf(bill, leaves(5));

  it('give the receipt that JSON gives, however they are written and cut', async () => {
    const { text: wanted, status } = await asJson(bill, leaves(5));
    expect(status).toBe(200);
    const bytes = new TextEncoder().encode(text);
    const spaced = leaves(5).map(
      ({ unit, receipt_sha256 }) => ` { "unit" : ${unit}, "receipt_sha256":"${receipt_sha256}" }\n`,
    );
    const forms: (readonly [string, Iterable<string | Uint8Array>])[] = [
      ['without a last line feed', [text]],
      ['with one', [`${text}\n`]],
      ['with blank lines at the end', [`${text}\n\n\r\n`]],
      ['with carriage returns', [text.replaceAll('\n', '\r\n')]],
      ['with spaces and the members in another order', [linesOf(bill, []), '\n', ...spaced]],
      ['a byte at a time', Array.from(bytes, (byte) => Uint8Array.of(byte))],
    ];
    for (const [what, chunks] of forms) {
      const reply = await service.request(PATH, stream(chunks));
      expect(reply.text, what).toBe(wanted);
    }
  });

  it.each<[string, string, Parameters<typeof expectProblem>[1], string | undefined]>([
    ['nothing', '', 'json_empty', undefined],
    ['only blank lines', '\n\n', 'json_empty', undefined],
    ['a blank line first', `\n${text}`, 'json_empty', 'line 1'],
    ['a blank line between', text.replace('\n', '\n\n'), 'json_empty', 'line 2'],
    ['a byte order mark', `\ufeff${text}`, 'json_bom', 'line 1'],
    ['a bill that is no JSON', `{"machine_commitment":\n${text}`, 'json_syntax', 'line 1'],
    [
      'a bill that holds its evidence',
      `${lineText({ ...bill, evidence: [] })}\n`,
      'unknown_field',
      'evidence',
    ],
    ['a bill that is a leaf', lineText(leaf(1)), 'unknown_field', 'receipt_sha256'],
    [
      'a bill of more than 64 KiB',
      `${lineText({ ...bill, note: 'x'.repeat(65_536) })}\n`,
      'body_too_large',
      'line 1',
    ],
    ['an item of more than 128 KiB', `${text}\n${' '.repeat(131_073)}`, 'body_too_large', 'line 7'],
    ['a leaf that is no JSON', `${text}\n{"unit":6`, 'json_syntax', 'line 7'],
    ['a leaf with a member twice', `${text}\n{"unit":6,"unit":7}`, 'json_duplicate_member', 'line 7.unit'],
    [
      'a leaf with a large integer',
      `${text}\n{"unit":9007199254740993}`,
      'json_integer_range',
      'line 7.unit',
    ],
    ['two leaves on a line', `${text}\n${lineText(leaf(6))}${lineText(leaf(7))}`, 'json_syntax', 'line 7'],
  ])('are refused with %s', async (_what, body, code, field) => {
    expectProblem(await service.post(PATH, body, NDJSON), code, field);
  });

  it('are refused when they are no UTF-8', async () => {
    const body = [`${text}\n`, Uint8Array.of(0x22, 0xff, 0x22)];
    expectProblem(await service.request(PATH, stream(body)), 'json_not_utf8', 'line 7');
  });

  it('are refused when they are encoded, or of another type', async () => {
    const refused = 'unsupported_media_type';
    expectProblem(await service.post(PATH, text, { ...NDJSON, 'content-encoding': 'gzip' }), refused);
    expectProblem(await service.post(PATH, text, { 'content-type': 'application/x-ndjsonp' }), refused);
    const plain = await service.post(PATH, text, { 'content-type': 'text/plain' });
    expectProblem(plain, refused);
    expect(plain.json.detail).toMatch(/application\/json or application\/x-ndjson/);
    expectProblem(await service.post('/v1/receipt/free', text, NDJSON), refused);
  });

  it('may have parameters of their type', async () => {
    const type = { 'content-type': 'Application/X-NDJSON; charset=utf-8' };
    expect((await service.post(PATH, linesOf(freshBill(), leaves(1)), type)).status).toBe(200);
  });

  it('may be many more bytes than any other body, and a broken one is found by its number', async () => {
    const count = 100_000;
    const large = freshBill({ billed_unit_count: count });
    const minted = await service.request(PATH, stream(manyLines(large, count)));
    expect(minted.json.signed_body, minted.text).toMatchObject({ coverage_class: 'fully_evidence_backed' });
    const put = vi.spyOn(service.services.store, 'putReceipt');
    const broken = manyLines(large, count, (line, number) => (number === 70_000 ? line.slice(1) : line));
    expectProblem(await service.request(PATH, stream(broken)), 'json_syntax', 'line 70000');
    const twice = manyLines(large, count, (line, number) => (number === 70_000 ? lineText(leaf(3)) : line));
    expectProblem(await service.request(PATH, stream(twice)), 'metering_unit_twice', 'line 70000.unit');
    expect(put).not.toHaveBeenCalled();
    put.mockRestore();
  });
});

describe('over a socket', () => {
  it('a stream lets other requests have their turn', async () => {
    const url = await service.listen();
    const count = 200_000;
    const order: string[] = [];
    const sent = fetch(
      `${url}${PATH}`,
      stream(manyLines(freshBill({ billed_unit_count: count }), count)),
    ).then(toReply);
    const minted = sent.then(() => order.push('minted'));
    for (let n = 0; n < 5; n++) {
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      order.push('healthy');
    }
    await minted;
    expect((await sent).status, (await sent).text).toBe(200);
    expect(order.at(-1)).toBe('minted');
  });

  it('what is refused early is answered, and the next request is served', async () => {
    const url = await service.listen();
    const bill = freshBill({ billed_unit_count: 10_000 });
    const early = await fetch(`${url}${PATH}`, stream([`${linesOf(bill, [leaf(1), leaf(1)])}\n`])).then(
      toReply,
    );
    expectProblem(early, 'metering_unit_twice', 'line 3.unit');
    const good = await fetch(`${url}${PATH}`, stream(manyLines(bill, 10_000)));
    expect(good.status).toBe(200);
  });

  it('a stream that breaks off mints nothing', async () => {
    const url = await service.listen();
    const put = vi.spyOn(service.services.store, 'putReceipt');
    const read = Promise.withResolvers<void>();
    const count = vi.spyOn(service.services.clients, 'scope');
    const outgoing = request(`${url}${PATH}`, { method: 'POST', headers: NDJSON });
    outgoing.on('error', () => read.resolve());
    outgoing.write(`${linesOf(freshBill(), leaves(5))}\n`, () => outgoing.destroy());
    await read.promise;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(put).not.toHaveBeenCalled();
    expect(count).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });
});

it('a receipt is kept about seven years, and its bill is known to be over after that', async () => {
  const old = await startTestService();
  try {
    const bill = { ...freshBill({ compiled_at: '2027-03-01T12:00:00.250Z' }), evidence: [leaf(1)] };
    const { text } = await old.post(PATH, bill);
    old.clock.advance(2557 * 86_400_000 - 1000);
    await purgeExpired(old.services.store, old.clock());
    expect((await old.post(PATH, bill)).text).toBe(text);
    old.clock.advance(1000);
    expectProblem(await old.post(PATH, bill), 'receipt_purged');
    await purgeExpired(old.services.store, old.clock());
    expectProblem(await old.get(`/v1/receipt/${receiptIdOf(text)}`), 'receipt_purged');
    expectProblem(await old.post(PATH, bill), 'receipt_purged');
  } finally {
    await old.close();
  }
});

it('the reference lists both forms of the body', async () => {
  const { json } = await service.get('/openapi.json');
  const paths = json.paths as Record<
    string,
    Record<string, { requestBody: { content: Record<string, JsonObject> } }>
  >;
  const content = paths[PATH]?.post?.requestBody.content ?? {};
  expect(Object.keys(content)).toEqual(['application/json', 'application/x-ndjson']);
  const example = content['application/x-ndjson']?.example as string;
  expect((await service.post(PATH, example, NDJSON)).status).toBe(200);
});
