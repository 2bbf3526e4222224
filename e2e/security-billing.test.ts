import { createSigner, generateSecretKey, type JsonObject, type Signer, signRequest } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL } from './clients.ts';
import { API_URL, type Customer, type ProductionFront, serveProduction } from './production-front.ts';
import { rawPost } from './raw-post.ts';

const CHAT = '/v1/compute/chat/completions';
const body: JsonObject = { model: MODEL, messages: [{ role: 'user', content: 'Say it.' }] };
/** Of a call to the upstream, in nano-USDC. */
const PRICE = 6_300n;
const READS = 5;

let front: ProductionFront;
let mallory: Customer;
let victim: Customer;
/** An agent with a balance, that proves who it is by its signature. */
let agent: Signer;
beforeAll(async () => {
  front = await serveProduction({
    TALLY_FREE_READ_PER_DAY: String(READS),
    TALLY_FREE_READ_PER_DAY_BY_ADDRESS: String(READS),
  });
  mallory = await front.customer('1');
  victim = await front.customer('1');
  agent = await createSigner(generateSecretKey());
  await front.credit(agent.keyId, '1');
});
afterAll(() => front.close());

const PAID = 1_000_000_000n;
const spent = async (caller: string): Promise<bigint> => PAID - (await front.balance(caller));
const spentByAll = async (): Promise<Record<string, bigint>> => ({
  mallory: await spent(mallory.id),
  victim: await spent(victim.id),
  agent: await spent(agent.keyId),
});

type Headers = Record<string, string | string[]>;
const chat = (headers: Headers, { path = CHAT, content = body, host = '' } = {}) =>
  rawPost(front.url + path, { ...(host === '' ? {} : { host }), ...headers }, JSON.stringify(content));

/** Of a body as `rawPost` sends it. */
async function signed(path: string, content: JsonObject, origin = API_URL): Promise<Record<string, string>> {
  const request = { method: 'POST', url: new URL(origin + path), body: Buffer.from(JSON.stringify(content)) };
  const moment = { created: Math.floor(Date.now() / 1000), nonce: crypto.randomUUID() };
  return signRequest(request, { did: agent.keyId, signer: agent }, moment);
}

describe('with a key of one’s own, nobody else pays', () => {
  const tricks = (): readonly [string, Headers][] => [
    ['X-Agent-DID', { 'x-agent-did': agent.keyId }],
    ['X-Api-Key', { 'x-api-key': victim.key }],
    ['Host', { host: `${victim.id}.api.example.com` }],
    [
      'X-Forwarded-*',
      { 'x-forwarded-for': '10.0.0.1', 'x-forwarded-host': 'x', 'x-forwarded-user': victim.id },
    ],
    ['Forwarded', { forwarded: `for=10.0.0.1;by=${victim.id}` }],
    ['X-Forwarded-Authorization', { 'x-forwarded-authorization': `Bearer ${victim.key}` }],
    ['Proxy-Authorization', { 'proxy-authorization': `Bearer ${victim.key}` }],
    ['X-Original-Authorization', { 'x-original-authorization': `Bearer ${victim.key}` }],
    ['Cookie', { cookie: `authorization=${victim.key}; account=${victim.id}` }],
    [
      'names of others’ gateways',
      { 'openai-organization': victim.id, 'x-account': victim.id, 'x-user': victim.id },
    ],
    ['X-HTTP-Method-Override', { 'x-http-method-override': 'GET' }],
  ];

  it('whatever headers say', async () => {
    for (const [name, headers] of tricks()) {
      const before = await spentByAll();
      const { status } = await chat({ authorization: `Bearer ${mallory.key}`, ...headers });
      expect(status, name).toBe(200);
      const after = await spentByAll();
      expect(after, name).toEqual({ ...before, mallory: (before['mallory'] ?? 0n) + PRICE });
    }
  });

  it('and two Authorization headers are refused', async () => {
    const before = await spentByAll();
    const authorization = [`Bearer ${mallory.key}`, `Bearer ${victim.key}`];
    expect((await chat({ authorization })).status).toBe(400);
    expect(await spentByAll()).toEqual(before);
  });

  it('whatever the body says', async () => {
    const before = await spentByAll();
    const claims = { account: victim.id, user: victim.id, payer: agent.keyId, api_key: victim.key };
    const { status } = await chat(
      { authorization: `Bearer ${mallory.key}` },
      { content: { ...body, ...claims, metadata: claims } },
    );
    expect(status).toBe(200);
    expect(
      (await chat({ authorization: `Bearer ${mallory.key}` }, { content: { ...body, svc: claims } })).status,
    ).toBe(400);
    expect(await spentByAll()).toEqual({ ...before, mallory: (before['mallory'] ?? 0n) + PRICE });
  });

  it('and another’s Idempotency-Key gives no answer of theirs', async () => {
    const headers = { 'idempotency-key': 'order-1' };
    const before = await spentByAll();
    const theirs = await chat({ ...headers, authorization: `Bearer ${victim.key}` });
    const own = await chat({ ...headers, authorization: `Bearer ${mallory.key}` });
    expect([theirs.status, own.status]).toEqual([200, 200]);
    expect(own.headers['idempotency-replayed']).toBeUndefined();
    expect(own.headers['x-receipt-id']).not.toBe(theirs.headers['x-receipt-id']);
    expect(await spentByAll()).toEqual({
      ...before,
      mallory: (before['mallory'] ?? 0n) + PRICE,
      victim: (before['victim'] ?? 0n) + PRICE,
    });
  });
});

describe('without a key or a proof, nobody pays and nothing is called', () => {
  it.each<[string, () => Headers]>([
    ['nothing', () => ({})],
    ['a DID', () => ({ 'x-agent-did': agent.keyId })],
    ['the id of a key', () => ({ authorization: `Bearer ${victim.id}` })],
    ['a key with a letter less', () => ({ authorization: `Bearer ${victim.key.slice(0, -1)}` })],
    ['a key as a password', () => ({ authorization: `Basic ${btoa(`x:${victim.key}`)}` })],
    [
      'a loopback address',
      () => ({ host: 'localhost', 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' }),
    ],
    ['an address of one’s own', () => ({ forwarded: 'for=127.0.0.1;proto=https;host=api.example.com' })],
  ])('%s', async (_, headersOf) => {
    const before = await spentByAll();
    const calls = front.upstream.requests.length;
    expect((await chat(headersOf())).status).toBe(401);
    expect(front.upstream.requests).toHaveLength(calls);
    expect(await spentByAll()).toEqual(before);
  });
});

describe('a signature', () => {
  it('lets its agent pay, whatever Host says, and once', async () => {
    const before = await spent(agent.keyId);
    const headers = await signed(CHAT, body);
    expect((await chat(headers, { host: 'somewhere.else' })).status).toBe(200);
    expect(await spent(agent.keyId)).toBe(before + PRICE);
    expect((await chat(headers)).status).toBe(401);
    expect(await spent(agent.keyId)).toBe(before + PRICE);
  });

  it('is good for nothing else', async () => {
    const before = await spentByAll();
    const other = { ...body, n: 8 };
    const attempts: [string, Promise<{ status: number }>][] = [
      ['another body', chat(await signed(CHAT, body), { content: other })],
      ['another path', chat(await signed('/v1/compute/estimate', body))],
      ['a query', chat(await signed(CHAT, body), { path: `${CHAT}?x=1` })],
      ['another DID', chat({ ...(await signed(CHAT, body)), 'x-agent-did': 'did:web:another.example' })],
      [
        'another service, even one that Host names',
        chat(await signed(CHAT, body, 'https://evil.example'), { host: 'evil.example' }),
      ],
      [
        'another service that a proxy is said to name',
        chat({
          ...(await signed(CHAT, body, 'https://evil.example')),
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'https',
          forwarded: 'host=evil.example;proto=https',
        }),
      ],
    ];
    for (const [what, attempt] of attempts) expect((await attempt).status, what).toBe(401);
    expect(await spentByAll()).toEqual(before);
  });
});

it('an address that a header makes up has no free reads of its own', async () => {
  const statuses: number[] = [];
  for (let turn = 0; turn <= READS; turn += 1) {
    const address = `203.0.113.${turn}`;
    const headers = {
      'x-forwarded-for': address,
      'x-real-ip': address,
      'cf-connecting-ip': address,
      forwarded: `for=${address}`,
      'x-agent-did': `did:web:agent-${turn}.example`,
    };
    statuses.push((await fetch(`${front.url}/v1/compute/models`, { headers })).status);
  }
  expect(statuses).toEqual([...Array<number>(READS).fill(200), 429]);
});
