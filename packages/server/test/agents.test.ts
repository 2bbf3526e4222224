import { createSigner, generateSecretKey, type Signer, signRequest, utf8 } from '@tallystick/core';
import { afterEach, describe, expect, it } from 'vitest';
import { settlement } from '../../store/test/ledger-fixtures.ts';
import { DATABASES, expectProblem, type Reply, startTestService, type TestService } from './service.ts';

const EMIT = '/v1/receipt/emit';
const BODY = JSON.stringify({ input: 'x', purpose: 'p' });

let service: TestService;
afterEach(() => service.close());

let nonces = 0;
interface Sent {
  readonly signer: Signer;
  readonly did?: string;
  readonly path?: string;
  readonly base?: string;
  readonly body?: string;
  readonly nonce?: string;
}

/** The headers of a request to a public address of the service. */
async function signed({
  signer,
  did = signer.keyId,
  path = EMIT,
  ...rest
}: Sent): Promise<Record<string, string>> {
  const { base = service.config.receiptsUrl, body = BODY, nonce = `nonce ${nonces++}` } = rest;
  const request = { method: 'POST', url: new URL(base + path), body: utf8(body) };
  return signRequest(request, { did, signer }, { created: Math.floor(service.clock() / 1000), nonce });
}

const provedIn = ({ json }: Reply) => ({ did: json.agent_did, proved: json.agent_proved });

describe.each(DATABASES)('a signed request on %s', (database) => {
  it('is good once, over restarts and in every process', async () => {
    service = await startTestService({ database });
    const signer = await createSigner(generateSecretKey());
    const headers = await signed({ signer, nonce: 'once' });
    const first = await service.post(EMIT, BODY, headers);
    expect(provedIn(first)).toEqual({ did: signer.keyId, proved: true });
    expectProblem(await service.post(EMIT, BODY, headers), 'signature_invalid');
    await service.restart();
    expectProblem(await service.post(EMIT, BODY, headers), 'signature_invalid');

    const another = await createSigner(generateSecretKey());
    const theirs = await signed({ signer: another, nonce: 'once' });
    expect((await service.post(EMIT, BODY, theirs)).status).toBe(200);
  });

  it('is good once when it is sent many times together', async () => {
    service = await startTestService({ database });
    const headers = await signed({ signer: await createSigner(generateSecretKey()) });
    const replies = await Promise.all(Array.from({ length: 20 }, () => service.post(EMIT, BODY, headers)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  it('is remembered until it is too old', async () => {
    service = await startTestService({ database });
    const signer = await createSigner(generateSecretKey());
    const headers = await signed({ signer });
    expect((await service.post(EMIT, BODY, headers)).status).toBe(200);
    service.clock.advance(300_000);
    await service.services.store.purge(Math.floor(service.clock() / 1000));
    const again = await service.post(EMIT, BODY, headers);
    expectProblem(again, 'signature_invalid');
    expect(again.json.detail).toContain('already used');
    service.clock.advance(1_000);
    const late = await service.post(EMIT, BODY, headers);
    expectProblem(late, 'signature_invalid');
    expect(late.json.detail).toContain('created');
  });
});

const REGISTER = '/v1/compute/member/register';
const tierIn = ({ json }: Reply) => json.reputation_context;

describe.each(DATABASES)('the reputation tier in a receipt on %s', (database) => {
  it.each(['standard', 'pq'])('is what the member ledger says of a proved DID: %s', async (profile) => {
    service = await startTestService({ database });
    const signer = await createSigner(generateSecretKey());
    const path = `${EMIT}?profile=${profile}`;
    const emitted = async () => tierIn(await service.post(path, BODY, await signed({ signer, path })));
    expect(await emitted()).toEqual({ reputation_tier: 'unregistered' });
    expect((await service.post(REGISTER, { did: signer.keyId })).status).toBe(200);
    expect(await emitted()).toEqual({ reputation_tier: 'member' });
    await finishJobs(signer.keyId, 99);
    expect(await emitted()).toEqual({ reputation_tier: 'member' });
    await finishJobs(signer.keyId, 1);
    expect(await emitted()).toEqual({ reputation_tier: 'member_enterprise' });
    await finishJobs(signer.keyId, 9_900);
    expect(await emitted()).toEqual({ reputation_tier: 'member_scale' });
  });

  it('is unregistered for a member that did not prove the request', async () => {
    service = await startTestService({ database });
    const [signer, other] = await Promise.all([1, 2].map(() => createSigner(generateSecretKey())));
    if (signer === undefined || other === undefined) throw new Error('No signers.');
    await service.post(REGISTER, { did: signer.keyId });
    const unregistered = { reputation_tier: 'unregistered' };
    expect(tierIn(await service.post(EMIT, BODY, { 'x-agent-did': signer.keyId }))).toEqual(unregistered);
    const named = JSON.stringify({ agent_did: signer.keyId, input: 'x' });
    expect(tierIn(await service.post(EMIT, named))).toEqual(unregistered);
    const byAnother = await service.post(EMIT, named, await signed({ signer: other, body: named }));
    expect(byAnother.json).toMatchObject({ agent_proved: false, reputation_context: unregistered });
  });
});

let jobs = 0;
/** Counts jobs for a member as paid calls do. */
async function finishJobs(did: string, count: number): Promise<void> {
  const { ledger } = service.services.store;
  await Promise.all(
    Array.from({ length: count }, () => {
      jobs += 1;
      return ledger.settle(settlement(`job ${jobs}`, 0n, { reservationId: null, jobOf: did }));
    }),
  );
}

describe('a signature', () => {
  it('does not use up its nonce when it is bad', async () => {
    service = await startTestService();
    const signer = await createSigner(generateSecretKey());
    const headers = await signed({ signer });
    const other = JSON.stringify({ input: 'y', purpose: 'p' });
    expectProblem(await service.post(EMIT, other, headers), 'signature_invalid');
    expectProblem(await service.post(`${EMIT}?profile=pq`, BODY, headers), 'signature_invalid');
    expectProblem(
      await service.post(EMIT, BODY, { ...headers, 'x-agent-did': 'did:web:a' }),
      'signature_invalid',
    );
    expect((await service.post(EMIT, BODY, headers)).status).toBe(200);
  });

  it('proves the agent that it names and no other', async () => {
    service = await startTestService();
    const signer = await createSigner(generateSecretKey());
    const body = JSON.stringify({ agent_did: 'did:web:agent.example', input: 'x' });
    const named = await service.post(EMIT, body, await signed({ signer, body }));
    expect(provedIn(named)).toEqual({ did: 'did:web:agent.example', proved: false });
    const unsigned = await service.post(EMIT, BODY, { 'x-agent-did': signer.keyId });
    expect(provedIn(unsigned)).toEqual({ did: signer.keyId, proved: false });
  });

  it('is over a public address of the configuration, whatever Host says', async () => {
    service = await startTestService({
      env: { TALLY_API_URL: 'https://api.acme.test', TALLY_RECEIPTS_URL: 'https://receipts.acme.test/tally' },
    });
    const signer = await createSigner(generateSecretKey());
    for (const base of ['https://api.acme.test', 'https://receipts.acme.test/tally']) {
      expect((await service.post(EMIT, BODY, await signed({ signer, base }))).status).toBe(200);
    }
    const elsewhere = await signed({ signer, base: 'https://evil.test' });
    const hosts = {
      host: 'evil.test',
      'x-forwarded-host': 'evil.test',
      forwarded: 'host=evil.test;proto=https',
    };
    expectProblem(await service.post(EMIT, BODY, { ...elsewhere, ...hosts }), 'signature_invalid');
    expectProblem(
      await service.request(`https://evil.test${EMIT}`, {
        method: 'POST',
        body: BODY,
        headers: { 'content-type': 'application/json', ...elsewhere },
      }),
      'signature_invalid',
    );
  });

  it('may be over any name of loopback', async () => {
    service = await startTestService();
    const signer = await createSigner(generateSecretKey());
    for (const name of ['localhost', '127.0.0.1', '[::1]']) {
      const reply = await service.post(EMIT, BODY, await signed({ signer, base: `http://${name}:8787` }));
      expect(reply.status, name).toBe(200);
    }
  });

  it('proves an issuer by its receipt key and no other', async () => {
    service = await startTestService();
    const { issuer, registry } = service.services;
    const did = issuer.did;
    const record = await registry.document(did);
    expect(record?.keys.some(({ purpose }) => purpose === 'receipt')).toBe(true);
    const own = issuer.signer('receipt');
    expect(provedIn(await service.post(EMIT, BODY, await signed({ signer: own, did })))).toEqual({
      did,
      proved: true,
    });
    const log = issuer.signer('log');
    expectProblem(await service.post(EMIT, BODY, await signed({ signer: log, did })), 'signature_invalid');
    const stranger = await createSigner(generateSecretKey());
    expectProblem(
      await service.post(EMIT, BODY, await signed({ signer: stranger, did })),
      'signature_invalid',
    );
  });

  it.each(['did:svc:nobody', 'did:web:localhost%3A1', 'did:key:z6Mk', 'did:example:a'])(
    'of %s has no key here, and nothing is fetched',
    async (did) => {
      service = await startTestService();
      const signer = await createSigner(generateSecretKey());
      expectProblem(await service.post(EMIT, BODY, await signed({ signer, did })), 'signature_invalid');
    },
  );
});
