import {
  anchoredHash,
  createSigner,
  type EvidenceClass,
  type EvidenceLeaf,
  fromHex,
  generateSecretKey,
  type JsonObject,
  type JsonValue,
  mintEnvelope,
  toBase64url,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  apiKey,
  DATABASES,
  expectProblem,
  type Reply,
  startTestService,
  type TestService,
} from './service.ts';

const PATH = '/v1/receipt/metering';
const hex = (digit: string): string => digit.repeat(64);
const bare = (unit: number): EvidenceLeaf => ({
  unit,
  receipt_sha256: `b${unit.toString(16).padStart(63, '0')}`,
});

let bills = 0;
function bill(changes: JsonObject = {}): JsonObject {
  bills += 1;
  return {
    machine_commitment: bills.toString(16).padStart(64, '0'),
    customer_commitment: hex('2'),
    salt_commitment: hex('3'),
    window_start: '2027-03-01T11:00:00Z',
    window_end: '2027-03-01T12:00:00.3Z',
    compiled_at: '2027-03-01T12:00:00.3Z',
    service_unit: 'pick',
    billed_unit_count: 9,
    rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: hex('4') },
    ...changes,
  };
}

const countsIn = ({ headers }: Reply) =>
  Object.fromEntries(
    ['verified', 'logged', 'hashed', 'trusted', 'in-window'].map((name) => [
      name,
      Number(headers.get(`x-evidence-${name}`)),
    ]),
  );

describe.each(DATABASES)('evidence on %s', (database) => {
  let service: TestService;
  let receipts: JsonObject[];
  /** A receipt of somebody whom the service does not know. */
  let strange: JsonObject;
  /** A leaf whose hash the log has. */
  let logged: EvidenceLeaf;

  beforeAll(async () => {
    service = await startTestService({ database });
    const emitted = await Promise.all(
      ['nano', 'standard', 'pq'].map((profile) =>
        service.post(`/v1/receipt/emit?profile=${profile}`, { input: `pallet ${profile}` }),
      ),
    );
    const minted = await service.post('/v1/receipt/free', { input: 'pallet', purpose: 'unit' });
    receipts = [...emitted, minted].map(({ json }) => json);
    const stranger = await createSigner(generateSecretKey());
    strange = JSON.parse(
      await mintEnvelope(
        {
          request: { hash: null, origin: null, purpose: 'unit', policy_hash: null },
          operator: { entity: null, region: null, training_region: null },
          hardware: { class: null, attestation: null },
          response: { hash: null, sealed: null },
          settlement: { chain: null, asset: null, tx: null },
        },
        {
          receiptId: 'r_env_1803902400_0123456789ab',
          issuedAt: service.clock() - 7_200_000,
          issuerDid: stranger.keyId,
          issuerVerified: false,
        },
        stranger,
      ),
    ) as JsonObject;
    logged = bare(8);
    const canonical_sha256 = toBase64url(fromHex(logged.receipt_sha256));
    await service.post('/v1/anchor', { canonical_sha256 }, await apiKey(service, 'pro'));
  });
  afterAll(() => service.close());

  const wholes = (): JsonObject[] => receipts.map((receipt, index) => ({ unit: index + 1, receipt }));
  const withPolicy = (policy: EvidenceClass | undefined): JsonObject =>
    policy === undefined ? {} : { evidence_policy: policy };

  const FORMS: [
    string,
    (said: JsonObject, evidence: readonly JsonValue[]) => Promise<Reply>,
    (at: number) => string,
  ][] = [
    [
      'JSON',
      (said, evidence) => service.post(PATH, { ...said, evidence: [...evidence] }),
      (at) => `evidence[${at}]`,
    ],
    [
      'NDJSON',
      (said, evidence) =>
        service.post(PATH, [said, ...evidence].map((line) => JSON.stringify(line)).join('\n'), {
          'content-type': 'application/x-ndjson',
        }),
      (at) => `line ${at + 2}`,
    ],
  ];

  describe.each(FORMS)('as %s', (_form, send, place) => {
    it('is counted by what stands behind it, each leaf once', async () => {
      const evidence = [...wholes(), { unit: 5, receipt: strange }, bare(6), logged];
      const reply = await send(bill(), evidence);
      expect(reply.status, reply.text).toBe(200);
      const counts = { verified: 5, logged: 1, hashed: 1 };
      expect(countsIn(reply)).toEqual({ ...counts, trusted: 4, 'in-window': 4 });
      expect(reply.headers.get('access-control-expose-headers')).toContain('X-Evidence-Verified');
      expect(reply.json.signed_body).toMatchObject({ metered: { evidence_backed_unit_count: 7 } });
      expect(JSON.stringify(reply.json)).not.toMatch(/verified|logged|policy/);
      const verdict = await service.post('/v1/receipts/verify', { receipt: reply.json, evidence });
      expect(verdict.json).toMatchObject({
        valid: true,
        evidence: { ...counts, trusted: 4, issued_in_window: 4 },
      });
      const many = await service.post('/v1/receipts/verify', {
        receipts: [{ receipt: reply.json, evidence }],
      });
      expect(many.json.results).toMatchObject([{ evidence: counts }]);
    });

    it('gives the receipt that bare hashes give', async () => {
      const said = bill();
      const whole = await send(said, wholes());
      const hashes = receipts.map((receipt, index) => ({
        unit: index + 1,
        receipt_sha256: anchoredHash(receipt),
      }));
      const again = await send(said, hashes);
      expect(again.text).toBe(whole.text);
      expect(countsIn(again)).toMatchObject({ verified: 0, logged: 0, hashed: 4 });
    });

    it.each([undefined, 'hashed', 'logged', 'verified'] as const)(
      'with a receipt that is not valid is refused under the policy %s',
      async (policy) => {
        const put = vi.spyOn(service.services.store, 'putReceipt');
        const [, standard] = receipts;
        const evidence = [
          ...wholes().slice(0, 1),
          { unit: 2, receipt: { ...standard, purpose: 'a better one' } },
          { unit: 2, receipt_sha256: 'not even this is read' },
        ];
        const reply = await send(bill(withPolicy(policy)), evidence);
        expectProblem(reply, 'metering_evidence_invalid', `${place(1)}.receipt`);
        expect(reply.json.detail).toContain('signature: The signature does not match');
        expect(put).not.toHaveBeenCalled();
        put.mockRestore();
      },
    );

    it.each(['verified', 'logged'] as const)('that is less than %s is refused, by line', async (policy) => {
      const put = vi.spyOn(service.services.store, 'putReceipt');
      const less = policy === 'verified' ? [logged, bare(6)] : [bare(6)];
      for (const one of less) {
        const reply = await send(bill(withPolicy(policy)), [...wholes(), one]);
        expectProblem(reply, 'metering_evidence_policy', place(4));
      }
      expect(put).not.toHaveBeenCalled();
      put.mockRestore();
    });

    it('that is enough for the policy is taken', async () => {
      expect((await send(bill(withPolicy('verified')), wholes())).status).toBe(200);
      const both = await send(bill(withPolicy('logged')), [...wholes(), logged]);
      expect(countsIn(both)).toMatchObject({ verified: 4, logged: 1, hashed: 0 });
    });

    it('knows three policies', async () => {
      expectProblem(await send(bill({ evidence_policy: 'none' }), []), 'invalid_field', 'evidence_policy');
    });
  });

  it('in a long stream is looked up and refused at its line', async () => {
    const count = 5_000;
    const said = bill({ billed_unit_count: count, evidence_policy: 'logged' });
    const hashes = Array.from({ length: count }, (_, index) => bare(index + 1));
    const key = await apiKey(service, 'scale');
    const placed = await service.post(
      '/v1/anchor/batch',
      {
        canonical_sha256: hashes
          .slice(0, 4_000)
          .map(({ receipt_sha256 }) => toBase64url(fromHex(receipt_sha256))),
      },
      key,
    );
    expect(placed.status, placed.text).toBe(200);
    const [, lines] = FORMS[1] ?? [];
    const reply = await lines?.(said, hashes);
    expectProblem(reply as Reply, 'metering_evidence_policy', 'line 4002');
    const taken = await lines?.({ ...said, evidence_policy: 'hashed' }, hashes);
    expect(countsIn(taken as Reply)).toMatchObject({ verified: 0, logged: 4_000, hashed: 1_000 });
  });
});
