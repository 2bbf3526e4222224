import {
  createSigner,
  generateSecretKey,
  type JsonObject,
  type Signer,
  signRequest,
  utf8,
} from '@tallystick/core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { creditCaller } from '../../ledger/src/credit.ts';
import { CHAT, MODEL, startRouted } from './compute.ts';
import { DATABASES, expectProblem, type Reply, startTestService, type TestService } from './service.ts';
import {
  endOf,
  NETWORK,
  startPaidService,
  startTreasuryChain,
  type TreasuryChain,
  watch,
} from './treasury.ts';

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const USDC = 1_000_000_000n;

let chain: TreasuryChain;
let service: TestService;
let signer: Signer;
let nonces = 0;

beforeAll(async () => {
  chain = await startTreasuryChain();
  signer = await createSigner(generateSecretKey());
});
afterAll(() => chain.anvil.stop());
afterEach(() => service.close());

/** A request that the DID signs. */
async function asDid(
  method: 'GET' | 'POST',
  path: string,
  body: JsonObject | null = null,
  more: Record<string, string> = {},
): Promise<Reply> {
  const raw = body === null ? null : utf8(JSON.stringify(body));
  const headers = { ...(await signedHeaders(method, path, raw)), ...more };
  return raw === null ? service.get(path, headers) : service.post(path, raw, headers);
}

function signedHeaders(method: 'GET' | 'POST', path: string, body: Uint8Array | null) {
  nonces += 1;
  return signRequest(
    { method, url: new URL(`${service.config.apiUrl}${path}`), body },
    { did: signer.keyId, signer },
    { created: Math.floor(service.clock() / 1000), nonce: `n${nonces}` },
  );
}

async function credit(amount: bigint): Promise<void> {
  const { store } = service.services;
  const reference = `r${nonces}`;
  nonces += 1;
  await creditCaller(store, {
    caller: signer.keyId,
    amount,
    reference,
    memo: 'cashback',
    now: service.clock(),
  });
}

const withdraw = (amount: string, more?: Record<string, string>, address = ADDRESS): Promise<Reply> =>
  asDid('POST', '/v1/balance/withdrawals', { address, amount }, more);

describe.each(DATABASES)('a balance on %s', (database) => {
  it('is topped up by a transfer with a memo, or of a quoted amount, and shown to who proves the DID', async () => {
    service = await startPaidService(chain, { database });
    await chain.pay(5_000_000n, `account=${signer.keyId}`);
    const quoted = await asDid('POST', '/v1/balance/quote', { amount: '25' });
    const amount = BigInt((quoted.json as { amount: string }).amount);
    expect(amount > 25_000_000n && amount < 25_050_000n).toBe(true);
    const tx = await chain.pay(amount, '', 'bob');
    await watch(service);
    expect(await endOf(service, tx)).toMatchObject({ outcome: 'top_up' });
    const { json } = await asDid('GET', '/v1/balance');
    const total = String((5_000_000n + amount) * 1000n);
    expect(json).toMatchObject({
      account: `caller:${signer.keyId}`,
      balance: { nano: total },
      reserved: { nano: '0' },
      available: { nano: total },
      low: false,
    });
    const first = await asDid('GET', '/v1/balance/statement?limit=1');
    expect(first.json).toMatchObject({
      next: 1,
      lines: [{ line: 1, amount: { usdc: '5.000000000' }, memo: 'top-up' }],
    });
    const second = await asDid('GET', '/v1/balance/statement?limit=1&after=1');
    expect(second.json).toMatchObject({ next: null, lines: [{ line: 2, balance: { nano: total } }] });
    expect(second.headers.get('cache-control')).toBe('no-store');
  });

  it('pays once for a retry with the same Idempotency-Key, from wherever it comes', async () => {
    service = await startPaidService(chain, { database, env: { TALLY_TRUSTED_PROXIES: '127.0.0.1' } });
    await credit(USDC);
    const url = await service.listen();
    const emit = async (address: string) => {
      const path = '/v1/receipt/emit?profile=standard';
      const body = JSON.stringify({ payload: { a: 1 }, purpose: 'x' });
      const reply = await fetch(url + path, {
        method: 'POST',
        body,
        headers: {
          ...(await signedHeaders('POST', path, utf8(body))),
          'content-type': 'application/json',
          'idempotency-key': 'order-42',
          'x-forwarded-for': address,
        },
      });
      expect(reply.status).toBe(200);
      return reply.text();
    };
    const first = await emit('192.0.2.1');
    const account = `caller:${signer.keyId}`;
    const { balance } = await service.services.store.ledger.balance(account);
    expect(balance).toBeLessThan(USDC);
    expect(await emit('2001:db8::1')).toBe(first);
    expect((await service.services.store.ledger.balance(account)).balance).toBe(balance);
  });
});

describe('a balance', () => {
  it('is nobody else’s to see', async () => {
    service = await startTestService({ env: { TALLY_FREE_READ_PER_DAY: '100' } });
    await credit(USDC);
    const { json } = await service.get('/v1/balance', { 'x-agent-did': signer.keyId });
    expect(json).toMatchObject({ account: 'development', balance: { nano: '0' } });
  });

  it('says what is put aside for calls under way, and when it is low', async () => {
    service = await startTestService();
    await credit(3n * USDC);
    const account = `caller:${signer.keyId}`;
    await service.services.store.ledger.reserve({
      id: 'r',
      account,
      amount: 2n * USDC + 1n,
      expiresAt: 2 ** 40,
    });
    expect((await asDid('GET', '/v1/balance')).json).toMatchObject({
      balance: { nano: String(3n * USDC) },
      reserved: { nano: String(2n * USDC + 1n) },
      available: { nano: String(USDC - 1n) },
      low: true,
    });
  });

  it('lists its entries newest first, in pages that new ones do not move, of a period, and as a file', async () => {
    service = await startTestService();
    const day = 86_400_000;
    for (let at = 1n; at <= 7n; at += 1n) {
      await credit(at * USDC);
      service.clock.advance(day / 2);
    }
    const { store } = service.services;
    const other = { caller: 'key_0000000000000000', amount: 99n * USDC, reference: 'o', memo: 'of another' };
    await creditCaller(store, { ...other, now: service.clock() });
    const amounts = async (query: string): Promise<[unknown[], string | null]> => {
      const { status, json, text } = await asDid('GET', `/v1/balance/entries?${query}`);
      expect(status, text).toBe(200);
      const { data, next_cursor: next } = json as { data: JsonObject[]; next_cursor: string | null };
      return [data.map(({ amount_usdc: amount }) => Number(amount)), next];
    };
    const [first, next] = await amounts('limit=3');
    expect(first).toEqual([7, 6, 5]);
    await credit(8n * USDC);
    const [second, last] = await amounts(`limit=3&cursor=${next}`);
    expect(second).toEqual([4, 3, 2]);
    expect(await amounts(`limit=3&cursor=${last}`)).toEqual([[1], null]);
    // The first entry was written on 1 March at noon, and each of the others half a day after the one before.
    expect(await amounts('from=2027-03-02T00:00:00Z&to=2027-03-03T00:00:00Z')).toEqual([[3, 2], null]);
    expect(await amounts('from=2027-03-02T00:00:00Z&to=2027-03-03T00:00:00Z&limit=1')).toEqual([
      [3],
      expect.any(String),
    ]);
    expect(await amounts('to=2027-03-01T12:00:00Z')).toEqual([[], null]);
    expect(await amounts('from=2027-04-01T00:00:00Z')).toEqual([[], null]);
    const { text } = await asDid('GET', '/v1/balance/entries?format=csv&to=2027-03-03T00:00:00Z');
    const lines = text.trimEnd().split('\r\n');
    expect(lines.map((line) => line.split(',').slice(0, 5).join())).toEqual([
      'line,at,amount_usdc,balance_usdc,memo',
      '3,2027-03-02T12:00:00Z,3,6,cashback',
      '2,2027-03-02T00:00:00Z,2,3,cashback',
      '1,2027-03-01T12:00:00Z,1,1,cashback',
    ]);
    expectProblem(await asDid('GET', '/v1/balance/entries?cursor=x'), 'invalid_field', 'cursor');
    const nobody = await service.get('/v1/balance/entries', { 'x-agent-did': signer.keyId });
    expect(nobody.json).toMatchObject({ data: [] });
  });

  it.each([['free'], ['paid']])('that is low says so on every answer of a model that is %s', async (kind) => {
    const routed = await startRouted();
    onTestFinished(() => routed.upstream.close());
    ({ service } = routed);
    const call = (stream: boolean) =>
      asDid('POST', CHAT, {
        model: kind === 'free' ? 'local/extract-1' : MODEL,
        messages: [{ role: 'user', content: 'What is a tally stick? A tally stick is a notched stick.' }],
        max_completion_tokens: 50,
        stream,
      });
    const low = async (): Promise<(string | null)[]> => {
      const replies = [await call(false), await call(true)];
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      return replies.map(({ headers }) => headers.get('x-balance-low')?.slice(0, 4) ?? null);
    };
    expect(await low()).toEqual([null, null]);
    await credit(USDC / 2n);
    const half = kind === 'free' ? '0.5' : '0.49';
    expect(await low()).toEqual([half, half]);
    await credit(USDC);
    expect(await low()).toEqual([null, null]);
  });

  it('can’t be topped up where no payments are taken', async () => {
    service = await startTestService();
    expectProblem(await asDid('POST', '/v1/balance/quote', { amount: '25' }), 'payments_off');
  });
});

describe('a withdrawal', () => {
  it('is put aside at once, and listed', async () => {
    service = await startPaidService(chain);
    await credit(10n * USDC);
    const { status, json } = await withdraw('2.5');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      state: 'waiting',
      network: NETWORK,
      amount: { usdc: '2.500000000' },
      tx_hash: null,
    });
    expect((await asDid('GET', '/v1/balance')).json).toMatchObject({ balance: { usdc: '7.500000000' } });
    const { ledger } = service.services.store;
    expect((await ledger.balance('withdrawals')).balance).toBe(25n * 10n ** 8n);
    const listed = { data: [json], next_cursor: null, withdrawals: [json] };
    expect((await asDid('GET', '/v1/balance/withdrawals')).json).toEqual(listed);
    expect(await ledger.checkBalanced()).toMatchObject({ sum: 0n, faults: [] });
  });

  it('is listed with those before it, newest first: in pages, of a period, or as a file', async () => {
    service = await startPaidService(chain);
    const PATH = '/v1/balance/withdrawals';
    await credit(10n * USDC);
    const asked: string[] = [];
    for (const text of ['1', '2', '3']) {
      service.clock.advance(60_000);
      const { json } = await withdraw(text);
      asked.push((json as { requested_at: string }).requested_at);
    }
    type Row = { readonly amount: { readonly usdc: string } };
    type Page = { readonly [member in 'data' | 'withdrawals']: readonly Row[] } & {
      next_cursor: string | null;
    };
    const pageOf = async (query: string) => (await asDid('GET', `${PATH}${query}`)).json as unknown as Page;
    const amountsOf = (rows: readonly Row[]) => rows.map(({ amount }) => amount.usdc.slice(0, 1)).join('');
    const first = await pageOf('?limit=2');
    expect([amountsOf(first.data), amountsOf(first.withdrawals)]).toEqual(['32', '23']);
    const next = await pageOf(`?limit=2&cursor=${first.next_cursor}`);
    expect([amountsOf(next.data), next.next_cursor]).toEqual(['1', null]);
    const period = await pageOf(`?from=${asked[1]}&to=${asked[2]}`);
    expect(amountsOf(period.data)).toBe('2');
    for (const [field, value] of [
      ['limit', '0'],
      ['cursor', 'x'],
    ])
      expectProblem(await asDid('GET', `${PATH}?${field}=${value}`), 'invalid_field', field);
    const lines = (await asDid('GET', `${PATH}?format=csv`)).text.trimEnd().split('\r\n');
    expect(lines[0]).toBe('id,state,network,address,amount.usdc,amount.nano,requested_at,tx_hash,note');
    expect(lines.slice(1).map((line) => line.split(',')[4])).toEqual([
      '3.000000000',
      '2.000000000',
      '1.000000000',
    ]);
  });

  it('is made once with one Idempotency-Key, also by two requests at once', async () => {
    service = await startPaidService(chain);
    await credit(10n * USDC);
    const key = { 'idempotency-key': 'w1' };
    const replies = await Promise.all([withdraw('2', key), withdraw('2', key)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(replies[0]?.json).toEqual(replies[1]?.json);
    expectProblem(await withdraw('3', key), 'idempotency_key_reused');
    expect(await service.services.store.treasury.newestPayouts('withdrawal', 100)).toHaveLength(1);
    expect((await asDid('GET', '/v1/balance')).json).toMatchObject({ balance: { usdc: '8.000000000' } });
  });

  it('takes no more than is available, however many ask at once', async () => {
    service = await startPaidService(chain);
    await credit(5n * USDC);
    const replies = await Promise.all(Array.from({ length: 4 }, () => withdraw('2')));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(replies.filter(({ status }) => status === 402)).toHaveLength(2);
  });

  it.each([
    ['0.999999', ADDRESS, 'amount'],
    ['2.0000001', ADDRESS, 'amount'],
    ['-3', ADDRESS, 'amount'],
    ['2', ADDRESS.toLowerCase().replace('0x5', '0X5'), 'address'],
    ['2', ADDRESS.replace('E', 'e'), 'address'],
    ['2', `0x${'0'.repeat(40)}`, 'address'],
    ['2', 'treasury', 'address'],
  ])('of %s to %s is refused', async (amount, address, field) => {
    service = await startPaidService(chain);
    await credit(5n * USDC);
    const to = address === 'treasury' ? chain.treasury : address;
    expectProblem(await withdraw(amount, {}, to), 'invalid_field', field);
    expect((await asDid('GET', '/v1/balance')).json).toMatchObject({ balance: { usdc: '5.000000000' } });
  });

  it('to an earlier treasury is refused, since that is the service’s own money still', async () => {
    const first = await startPaidService(chain);
    onTestFinished(() => first.close());
    const env = { TALLY_DATA_DIR: first.config.dataDir, TALLY_TREASURY: chain.token.accounts.facilitator };
    service = await startPaidService(chain, { env });
    await credit(5n * USDC);
    expectProblem(await withdraw('2', {}, chain.treasury), 'invalid_field', 'address');
    expect((await asDid('GET', '/v1/balance')).json).toMatchObject({ balance: { usdc: '5.000000000' } });
  });

  it('needs the DID’s signature', async () => {
    service = await startPaidService(chain);
    await credit(5n * USDC);
    const body = { address: ADDRESS, amount: '2' };
    const unproved = await service.post('/v1/balance/withdrawals', body, { 'x-agent-did': signer.keyId });
    expect(unproved.headers.get('www-authenticate')).toBe('Bearer');
    expectProblem(unproved, 'signature_invalid');
    expectProblem(
      await service.get('/v1/balance/withdrawals', { 'x-agent-did': signer.keyId }),
      'signature_invalid',
    );
  });
});
