import { createSigner, generateSecretKey, signRequest, TallyError } from '@tallystick/core';
import { afterEach, describe, expect, it } from 'vitest';
import { createCallers } from '../../callers/src/callers.ts';
import { createFreeReads } from '../../inference/src/free-reads.ts';
import { received } from '../../kit/test/received.ts';
import { headersOfFact, refusalHeaders } from '../src/http/fact-headers.ts';
import { apiKey, DATABASES, startTestService, type TestService } from './service.ts';

let service: TestService;
afterEach(() => service.close());

interface Options {
  readonly headers?: Readonly<Record<string, string>>;
  readonly development?: boolean;
}

/** What becomes of a request without a body. */
async function asked<T>(
  headers: Readonly<Record<string, string>>,
  ask: (call: Parameters<ReturnType<typeof createCallers>['callerOf']>[0]) => Promise<T>,
): Promise<{ found?: T; code?: string; headers: Record<string, string> }> {
  const call = { ...received(headers), rawBody: new Uint8Array() };
  const told = (): Record<string, string> =>
    Object.assign({}, ...call.facts.map(headersOfFact)) as Record<string, string>;
  try {
    return { found: await ask(call), headers: told() };
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return { code: error.code, headers: { ...told(), ...refusalHeaders(error) } };
  }
}

const callerOf = ({ headers = {}, development = false }: Options) =>
  asked(headers, createCallers(service.services, { development, payments: false }).callerOf);

async function proof(): Promise<{ did: string; headers: Record<string, string> }> {
  const signer = await createSigner(generateSecretKey());
  const request = { method: 'GET', url: new URL(`${service.config.apiUrl}/v1/x`), body: null };
  const moment = { created: Math.floor(service.clock() / 1000), nonce: 'n' };
  return { did: signer.keyId, headers: await signRequest(request, { did: signer.keyId, signer }, moment) };
}

describe('callerOf', () => {
  it.each([true, false])('an API key pays, in either header (development: %s)', async (development) => {
    service = await startTestService();
    const { authorization } = await apiKey(service, 'pro');
    const key = authorization?.replace('Bearer ', '') ?? '';
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
      const { found } = await callerOf({ headers: { ...headers, 'x-agent-did': 'did:web:a' }, development });
      expect(found).toMatchObject({ did: 'did:web:a', proved: false, key: { tier: 'pro' }, development });
      expect(found?.account).toBe(`caller:${found?.key?.id}`);
    }
  });

  it('beside an API key a signature is still checked', async () => {
    service = await startTestService();
    const { did, headers } = await proof();
    const key = await apiKey(service, 'pro');
    const { found } = await callerOf({ headers: { ...headers, ...key } });
    expect(found).toMatchObject({ did, proved: true, account: `caller:${found?.key?.id}` });
    expect((await callerOf({ headers: { ...headers, ...key } })).code).toBe('signature_invalid');
    expect((await callerOf({ headers: { ...key, signature: 'x' } })).code).toBe('signature_invalid');
  });

  it.each([true, false])('a proved DID pays (development: %s)', async (development) => {
    service = await startTestService();
    const { did, headers } = await proof();
    const { found } = await callerOf({ headers, development });
    expect(found).toMatchObject({ account: `caller:${did}`, did, proved: true, key: null, development });
  });

  it('a DID without proof never pays', async () => {
    service = await startTestService();
    const headers = { 'x-agent-did': 'did:web:a' };
    const { found } = await callerOf({ headers, development: true });
    expect(found).toMatchObject({ account: 'development', did: 'did:web:a', proved: false });
    const refused = await callerOf({ headers });
    expect(refused).toMatchObject({ code: 'api_key_missing', headers: { 'www-authenticate': 'Bearer' } });
    expect((await callerOf({ headers: { 'x-agent-did': 'me' }, development: true })).code).toBe(
      'invalid_field',
    );
  });

  it('a stranger’s credential is passed over in development only', async () => {
    service = await startTestService();
    const strangers = [{ authorization: 'Bearer sk-abc' }, { 'x-api-key': 'sk-ant-abc' }];
    for (const headers of strangers) {
      expect((await callerOf({ headers, development: true })).found?.account).toBe('development');
      expect((await callerOf({ headers })).code).toBe('api_key_invalid');
    }
    const meant = { authorization: `Bearer k_pro_${'0'.repeat(32)}` };
    expect((await callerOf({ headers: meant, development: true })).code).toBe('api_key_invalid');
  });
});

describe.each(DATABASES)('free reads on %s', (database) => {
  const start = async (perDay: number, perDayByAddress = 0) => {
    service = await startTestService({ database });
    const reads = createFreeReads({ ...service.services, clock: service.clock }, { perDay, perDayByAddress });
    return (headers: Record<string, string> = {}) => asked(headers, reads.admit);
  };

  it('are each DID’s own, and end at the limit of the address, so that invented DIDs gain little', async () => {
    const read = await start(2, 5);
    for (const did of ['did:web:a', 'did:web:b']) {
      for (const left of [1, 0]) {
        const { found, headers } = await read({ 'x-agent-did': did });
        expect(found).toMatchObject({ did, key: null });
        expect(headers['ratelimit']).toMatch(new RegExp(`^"free-read";r=${left};t=\\d+$`));
      }
      const refused = await read({ 'x-agent-did': did });
      expect(refused.code).toBe('rate_limited');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect((await read({ 'x-agent-did': 'did:web:c' })).found).toBeDefined();
    const refused = await read({ 'x-agent-did': 'did:web:d' });
    expect(refused.code).toBe('rate_limited');
    expect(refused.headers['ratelimit']).toMatch(/^"free-read-by-address";r=0;t=\d+$/);
    const key = await apiKey(service, 'pro');
    expect((await read({ ...key })).found?.key?.tier).toBe('pro');
    service.clock.advance(86_400_000);
    expect((await read()).found).toBeDefined();
  });

  it('are counted by DID, one that is not proved apart', async () => {
    await start(0);
    const counted: string[] = [];
    const consume = async (counter: string) => {
      counted.push(counter.replace(/^free-read:\d+:/, ''));
      return { allowed: true, used: 1 };
    };
    const { ledger } = service.services.store;
    const means = { ...service.services, clock: service.clock, store: { consume, ledger } };
    const reads = createFreeReads(means, { perDay: 3, perDayByAddress: 30 });
    const { did, headers } = await proof();
    await asked(headers, reads.admit);
    await asked({ 'x-agent-did': did }, reads.admit);
    await asked({}, reads.admit);
    expect(counted.filter((name) => name !== 'address:unknown')).toEqual([
      `did:${did}`,
      `unproved:${did}`,
      'nobody:unknown',
    ]);
    expect(counted).toHaveLength(6);
  });

  it('are none where the headers alone are asked for', async () => {
    service = await startTestService({ database, env: { TALLY_FREE_READ_PER_DAY: '1' } });
    const head = () => service.request('/v1/compute/models', { method: 'HEAD' });
    for (let times = 0; times < 2; times++) expect((await head()).status).toBe(200);
    expect((await service.get('/v1/compute/models')).status).toBe(200);
    expect((await service.get('/v1/compute/models')).status).toBe(429);
    expect((await head()).status).toBe(200);
  });

  it('are not counted where the quota is off', async () => {
    const read = await start(0);
    expect((await read()).headers).toEqual({});
  });
});

describe('admitPayer', () => {
  const admitted = (headers: Readonly<Record<string, string>>, payments = false) =>
    asked(headers, createCallers(service.services, { development: false, payments }).admitPayer);

  it('refuses who names nobody by headers alone, and leaves a signature to be checked with the body', async () => {
    service = await startTestService();
    expect(await admitted({})).toMatchObject({
      code: 'api_key_missing',
      headers: { 'www-authenticate': 'Bearer' },
    });
    expect(await admitted({ 'x-agent-did': 'did:web:a' })).toMatchObject({ code: 'api_key_missing' });
    expect(await admitted({ signature: 'a', 'signature-input': 'b' })).toMatchObject({ found: null });
    expect(await admitted({}, true)).toMatchObject({ found: null });
    expect(await admitted(await apiKey(service, 'pro'))).toMatchObject({ found: { tier: 'pro' } });
  });
});
