import { createSigner, generateSecretKey } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { revokeApiKey } from '../../callers/src/manage-api-keys.ts';
import { createDeliverer } from '../../payments/src/keys/deliver.ts';
import { openQuote } from '../../payments/src/keys/quote.ts';
import { openSealedKey } from '../../payments/src/keys/sealed-key.ts';
import { collect } from '../../store/test/test-database.ts';
import { hashOf } from './hashes.ts';
import { PRO, useKeySales } from './key-sales.ts';
import { apiKey, DATABASES, expectProblem } from './service.ts';
import {
  endOf,
  NETWORK,
  quote,
  startPaidService,
  startTreasuryChain,
  transfersOf,
  watch,
} from './treasury.ts';

const sales = useKeySales();
const { start, settled, orders, deliver, works, balanceOf, received, expectBalancedBooks, services } = sales;

describe.each(DATABASES)('a key bought with a transfer, on %s', (database) => {
  it('is sent by e-mail once the transfer is confirmed, works, and ends with its month', async () => {
    await start({ database });
    const tx = await sales.chain.pay(PRO, 'tier=pro contact=Ops@Example.com');
    const end = await settled(tx);
    expect(end).toMatchObject({ outcome: 'key', amount: PRO });
    const [order] = await orders();
    expect(order).toMatchObject({ id: end.reference, state: 'delivering', months: 1, tier: 'pro' });
    await deliver();
    const letter = await sales.mailbox.next();
    expect(letter.to).toEqual(['Ops@example.com']);
    const key = /k_pro_\w{32}/.exec(letter.text)?.[0] ?? '';
    expect(await works(key)).toBe(200);
    const [done] = await orders();
    expect(done).toMatchObject({ state: 'done', seed: null, attempts: 1, problem: null });
    sales.service.clock.advance(32 * 86_400_000);
    const refused = await sales.service.post(
      '/v1/anchor',
      { canonical_sha256: hashOf('late') },
      { authorization: `Bearer ${key}` },
    );
    expectProblem(refused, 'api_key_expired');
    expect(await balanceOf('revenue')).toBe(29_000_000_000n);
    expect(await received()).toBe(29_000_000_000n);
    await expectBalancedBooks();
  });

  it('is not to be had by a text with a zero byte: a transfer is to be refunded, a request refused', async () => {
    await start({ database });
    for (const memo of ['{"key":"\\u0000"}', '{"account":"\\u0000"}', 'account=key_\0x'])
      expect(await settled(await sales.chain.pay(PRO, memo))).toMatchObject({ outcome: 'refund' });
    for (const [path, body, field] of [
      ['/v1/anchor/keys', { tier: 'pro', contact: '\0' }, 'contact'],
      ['/v1/anchor/keys', { tier: 'pro', issuer_did: '\0' }, 'issuer_did'],
      ['/v1/anchor/keys/quote', { tier: 'pro', renew: '\0' }, 'renew'],
      ['/v1/balance/topup', { amount: '1', account: '\0' }, 'account'],
    ] as const)
      expectProblem(await sales.service.post(path, body), 'invalid_field', field);
    await expectBalancedBooks();
  });

  it('is posted to the domain, signed', async () => {
    await start({ database });
    await sales.chain.pay(10n * PRO, JSON.stringify({ tier: 'pro', contact: sales.hook.domain }));
    await watch(sales.service);
    await deliver();
    const { document, headers, path } = await sales.hook.next();
    expect(path).toBe('/.well-known/tally-key');
    expect(document).toMatchObject({ v: 'svc-key-delivery-v1', tier: 'pro' });
    expect(headers['signature']).toBeDefined();
    expect(headers['content-digest']).toMatch(/^sha-256=/);
    expect(await works(document.key)).toBe(200);
    const [order] = await orders();
    expect(order).toMatchObject({ state: 'done', months: 12 });
  });

  it('is sealed to the DID, whose key alone opens it', async () => {
    await start({ database });
    const secret = generateSecretKey();
    const { keyId } = await createSigner(secret);
    const tx = await sales.chain.pay(PRO, `tier=pro;issuer_did=${keyId}`);
    const { reference } = await settled(tx);
    await deliver();
    const { json } = await sales.service.get(`/v1/anchor/keys/orders/${reference}`);
    expect(json).toMatchObject({ state: 'done', kind: 'key', key_id: expect.stringMatching(/^key_/) });
    const opened = openSealedKey(json.sealed, secret);
    expect(await works(opened.key)).toBe(200);
    expect(() => openSealedKey(json.sealed, generateSecretKey())).toThrow(
      expect.objectContaining({ code: 'seal_wrong_key' }),
    );
  });
});

describe('every transfer ends in one way', () => {
  const DID = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';

  it.each<[what: string, amount: bigint, memo: string | Uint8Array, end: object]>([
    ['the monthly price', PRO, 'tier=pro contact=a@example.com', { outcome: 'key' }],
    ['the annual price', 10n * PRO, 'tier=pro contact=a@example.com', { outcome: 'key' }],
    ['a JSON memo', PRO, '{"tier":"pro","contact":"example.com","note":7}', { outcome: 'key' }],
    [
      'one base unit too little',
      PRO - 1n,
      'tier=pro contact=a@example.com',
      { outcome: 'refund', reason: 'underpaid' },
    ],
    ['a little too much', PRO + 5n, 'tier=pro contact=a@example.com', { outcome: 'key', excess: 5_000n }],
    [
      'almost a year',
      10n * PRO - 1n,
      'tier=pro contact=a@example.com',
      { outcome: 'key', excess: 260_999_999_000n },
    ],
    ['no memo', PRO, '', { outcome: 'refund', reason: 'no_memo' }],
    ['a memo of padding', PRO, new Uint8Array(32), { outcome: 'refund', reason: 'no_memo' }],
    ['a memo that is no UTF-8', PRO, Uint8Array.of(0xff, 0xfe), { outcome: 'refund', reason: 'broken_memo' }],
    ['a memo of half a JSON', PRO, '{"tier":"pro"', { outcome: 'refund', reason: 'broken_memo' }],
    ['a memo that says nothing', PRO, 'hello', { outcome: 'refund', reason: 'broken_memo' }],
    ['a memo with a field twice', PRO, 'tier=pro tier=scale', { outcome: 'refund', reason: 'broken_memo' }],
    [
      'a tier that is not sold',
      PRO,
      'tier=enterprise contact=a@example.com',
      { outcome: 'refund', reason: 'unknown_tier' },
    ],
    ['a contact without tier', PRO, 'contact=a@example.com', { outcome: 'refund', reason: 'unknown_tier' }],
    ['nobody to deliver to', PRO, 'tier=pro', { outcome: 'refund', reason: 'no_contact' }],
    ['a contact that is none', PRO, 'tier=pro contact=nobody', { outcome: 'refund', reason: 'bad_contact' }],
    [
      'a DID that nothing can be sealed to',
      PRO,
      'tier=pro issuer_did=did:web:example.com',
      { outcome: 'refund', reason: 'bad_contact' },
    ],
    [
      'two purposes',
      PRO,
      `tier=pro contact=a@example.com account=${DID}`,
      { outcome: 'refund', reason: 'ambiguous_memo' },
    ],
    ['a top-up', 5n, `account=${DID}`, { outcome: 'top_up' }],
    [
      'an account that is none',
      PRO,
      'account=key_0000000000000000',
      { outcome: 'refund', reason: 'unknown_account' },
    ],
    [
      'the account of nobody',
      PRO,
      'account=did:svc:anonymous',
      { outcome: 'refund', reason: 'unknown_account' },
    ],
    [
      'the account of a DID that was cut',
      PRO,
      `account=${DID.slice(0, -1)}`,
      { outcome: 'refund', reason: 'unknown_account' },
    ],
    ['the renewal of no key', PRO, 'key=key_0000000000000000', { outcome: 'refund', reason: 'unknown_key' }],
  ])('%s', async (_what, amount, memo, expected) => {
    await start();
    const tx = await sales.chain.pay(amount, memo);
    const end = await settled(tx);
    const { reason, excess = 0n, ...rest } = expected as { reason?: string; excess?: bigint };
    expect(end).toMatchObject(rest);
    await watch(sales.service);
    expect(await transfersOf(sales.service)).toHaveLength(1);
    const refunds = await sales.service.services.store.treasury.newestPayouts('refund', 100);
    expect(refunds.map((one) => one.reason)).toEqual(reason === undefined ? [] : [reason]);
    const [order] = await orders();
    expect(await balanceOf(`caller:${order?.apiKey ?? 'none'}`)).toBe(excess);
    expect(await balanceOf(`caller:${DID}`)).toBe(end.outcome === 'top_up' ? amount * 1000n : 0n);
    expect(await received()).toBe(amount * 1000n);
    expect(await balanceOf('refunds')).toBe(reason === undefined ? 0n : amount * 1000n);
    await expectBalancedBooks();
  });

  it('two transfers in one block: two keys', async () => {
    await start();
    const { raw: first, txHash } = await sales.chain.sign('alice', PRO, 'tier=pro contact=a@example.com');
    const second = await sales.chain.sign('bob', PRO, 'tier=pro contact=b@example.com');
    await sales.chain.together(async () => {
      await sales.chain.send(first);
      await sales.chain.send(second.raw);
    });
    const [one, two] = [await settled(txHash), await endOf(sales.service, second.txHash)];
    const blockOf = async (hash: string) =>
      ((await sales.chain.anvil.rpc('eth_getTransactionReceipt', hash)) as { blockHash: string }).blockHash;
    expect(await blockOf(txHash)).toBe(await blockOf(second.txHash));
    expect(one.reference).not.toBe(two?.reference);
    expect(new Set((await orders()).map(({ contact }) => contact))).toEqual(
      new Set(['a@example.com', 'b@example.com']),
    );
    await deliver();
    const letters = [await sales.mailbox.next(), await sales.mailbox.next()];
    expect(new Set(letters.map(({ text }) => /k_pro_\w{32}/.exec(text)?.[0])).size).toBe(2);
  });
});

describe('a quote', () => {
  it('is paid by its exact amount, without a memo, or with one of somebody else', async () => {
    await start();
    const asked = await quote(sales.service, { tier: 'pro', months: 12, contact: 'a@example.com' });
    const amount = BigInt(asked.amount);
    expect(amount > 10n * PRO && amount < 10n * PRO + 50_000n).toBe(true);
    expect(asked).toMatchObject({ network: NETWORK, pay_to: sales.chain.treasury, months: 12 });
    const near = await settled(await sales.chain.pay(amount + 1n));
    expect(near).toMatchObject({ outcome: 'refund' });
    const end = await settled(await sales.chain.pay(amount, 'builder code'));
    expect(end).toMatchObject({ outcome: 'key', reference: asked.order_id });
    const again = await settled(await sales.chain.pay(amount));
    expect(again).toMatchObject({ outcome: 'refund' });
    const { json } = await sales.service.get(`/v1/anchor/keys/orders/${asked.order_id}`);
    expect(json).toMatchObject({ state: 'delivering', payment: end.id });
    expect(JSON.stringify(json)).not.toContain('example.com');
  });

  it('is too late after its hour, by the time of the block', async () => {
    const own = await startTreasuryChain();
    await start({ env: own.env() });
    const asked = await quote(sales.service, { tier: 'pro', contact: 'a@example.com' });
    await own.anvil.rpc('evm_increaseTime', 3_700);
    const late = await settled(await own.pay(BigInt(asked.amount)));
    await own.anvil.stop();
    expect(late).toMatchObject({ outcome: 'refund' });
    const [refund] = await sales.service.services.store.treasury.newestPayouts('refund', 100);
    expect(refund?.reason).toBe('quote_expired');
  });

  it('that nobody pays is forgotten a day later, and its amount is free again', async () => {
    await start();
    const asked = await quote(sales.service, { tier: 'pro', contact: 'a@example.com' });
    await deliver();
    expect((await orders())[0]?.state).toBe('open');
    sales.service.clock.advance(26 * 3_600_000);
    await watch(sales.service);
    await deliver();
    expect((await orders())[0]?.state).toBe('expired');
    const paid = await settled(await sales.chain.pay(BigInt(asked.amount)));
    expect(paid).toMatchObject({ outcome: 'refund' });
  });

  it('is not forgotten before what was paid in its time must have been seen', async () => {
    await start();
    const asked = await quote(sales.service, { tier: 'pro', contact: 'a@example.com' });
    await sales.service.services.treasury?.close();
    sales.service.clock.advance(26 * 3_600_000);
    const { store, issuer, registry, logger } = sales.service.services;
    const blind = createDeliverer({
      store,
      issuer,
      registry,
      sendLetter: null,
      postToDomain: () => Promise.reject(new Error('Not here.')),
      readUntil: () => 0,
      isClosing: () => false,
      service: '',
      development: true,
      clock: sales.service.clock,
      logger,
    });
    await blind.step();
    expect((await orders())[0]?.state).toBe('open');
    expect(await settled(await sales.chain.pay(BigInt(asked.amount)))).toMatchObject({ outcome: 'key' });
  });

  it('renews a key: its time goes on from its end', async () => {
    await start();
    await settled(await sales.chain.pay(PRO, 'tier=pro contact=a@example.com'));
    const [sold] = await orders();
    const renew = sold?.apiKey ?? '';
    const asked = await quote(sales.service, { tier: 'pro', months: 12, renew });
    expect(await settled(await sales.chain.pay(BigInt(asked.amount)))).toMatchObject({ outcome: 'key' });
    const renewed = await sales.service.services.store.apiKeys.get(renew);
    const from = new Date((sold?.paidUntil ?? 0) * 1000);
    const to = new Date((renewed?.expiresAt ?? 0) * 1000);
    expect(to.getUTCFullYear()).toBe(from.getUTCFullYear() + 1);
    expect(to.getUTCMonth()).toBe(from.getUTCMonth());
    expect(await settled(await sales.chain.pay(PRO, `key=${renew}`))).toMatchObject({ outcome: 'key' });
    expect((await sales.service.services.store.apiKeys.get(renew))?.expiresAt).toBeGreaterThan(
      to.getTime() / 1000,
    );
    const wrong = await sales.service.post('/v1/anchor/keys/quote', { tier: 'scale', renew });
    expectProblem(wrong, 'invalid_field', 'renew');
  });

  it.each([
    [{ tier: 'pro' }, 'invalid_field', 'issuer_did'],
    [{ tier: 'pro', contact: 'a@b' }, 'invalid_field', 'contact'],
    [{ tier: 'pro', contact: '10.0.0.1' }, 'invalid_field', 'contact'],
    [{ tier: 'enterprise', contact: 'a@example.com' }, 'invalid_field', 'tier'],
    [{ tier: 'pro', renew: 'key_x', contact: 'a@example.com' }, 'conflicting_fields', 'renew'],
  ] as const)('is refused for %j', async (body, code, field) => {
    await start();
    expectProblem(await sales.service.post('/v1/anchor/keys/quote', body), code, field);
  });
});

describe.each(DATABASES)('a key that an account’s owner made, on %s', (database) => {
  /** The owner's key, and a key with an end that it made. */
  const makeKey = async () => {
    const owner = await apiKey(sales.service, 'pro');
    const expires_at = new Date(sales.service.clock() + 86_400_000).toISOString();
    const { json } = await sales.service.post('/v1/keys', { expires_at }, owner);
    return { owner, made: json as { readonly id: string; readonly expires_at: string } };
  };

  it('is renewed by nobody who pays', async () => {
    await start({ database });
    const { made } = await makeKey();
    const asked = await sales.service.post('/v1/anchor/keys/quote', { tier: 'pro', renew: made.id });
    expectProblem(asked, 'invalid_field', 'renew');
    const { treasury, apiKeys } = sales.service.services.store;
    // As a service that did not look at the owner has left it.
    const quoted = await openQuote(
      { treasury },
      PRO * 1_000n,
      { kind: 'renewal', tier: 'pro', months: 1, apiKey: made.id },
      sales.service.clock(),
    );
    expect(await settled(await sales.chain.pay(quoted.amount ?? 0n))).toMatchObject({ outcome: 'refund' });
    expect(await settled(await sales.chain.pay(PRO, `key=${made.id}`))).toMatchObject({ outcome: 'refund' });
    const refunds = await treasury.newestPayouts('refund', 100);
    expect(refunds.map(({ reason }) => reason)).toEqual(['made_key', 'made_key']);
    expect((await apiKeys.get(made.id))?.expiresAt).toBe(Math.floor(Date.parse(made.expires_at) / 1000));
    await expectBalancedBooks();
  });

  it('is topped up by topping up the account that pays for its calls, while it can be used', async () => {
    await start({ database });
    const { owner, made } = await makeKey();
    const { account } = (await sales.service.get('/v1/balance', owner)).json as { readonly account: string };
    const memo = `account=${made.id}`;
    const first = await settled(await sales.chain.pay(7n, memo));
    expect(first).toMatchObject({ outcome: 'top_up' });
    expect(await balanceOf(account)).toBe(7_000n);
    await revokeApiKey(sales.service.services.store, account.replace('caller:', ''), sales.service.clock());
    expect(await settled(await sales.chain.pay(8n, memo))).toMatchObject({ outcome: 'refund' });
    await expectBalancedBooks();
  });

  it('is no account to top up once it is revoked, nor is a key that pays for nothing', async () => {
    await start({ database });
    const { owner, made } = await makeKey();
    await sales.service.request(`/v1/keys/${made.id}`, { method: 'DELETE', headers: owner });
    await apiKey(sales.service, 'partner');
    const keys = await collect(sales.service.services.store.apiKeys.list());
    const partner = keys.find(({ tier }) => tier === 'partner')?.id ?? '';
    for (const account of [made.id, partner]) {
      const asked = await sales.service.post('/v1/balance/topup', { amount: '1', account });
      expectProblem(asked, 'invalid_field', 'account');
      expect(await settled(await sales.chain.pay(9n, `account=${account}`))).toMatchObject({
        outcome: 'refund',
      });
    }
    await expectBalancedBooks();
  });
});

describe('the price list', () => {
  it('says what everything costs and how it is paid, and since when', async () => {
    await start();
    const { json } = await sales.service.get('/pricing');
    expect(json.payment).toMatchObject({
      network: NETWORK,
      token: sales.chain.token.usdc,
      treasury: sales.chain.treasury,
      confirmations: 1,
    });
    const methods = Object.keys((json.payment as { methods: object }).methods);
    const text = JSON.stringify(json);
    const named = [...text.matchAll(/"(?:pay_by|top_up_by)":(\[[^\]]*\])/g)].flatMap(
      ([, list = '[]']) => JSON.parse(list) as string[],
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !methods.includes(name) && name !== 'api_key')).toEqual([]);
    expect(json.anchor_tiers).toMatchObject([
      { tier: 'free', monthly_usd: '0', annual_usd: null },
      { tier: 'pro', monthly_usd: '29', annual_usd: '290' },
      { tier: 'scale', monthly_usd: '249', annual_usd: '2490' },
      { tier: 'enterprise', monthly_usd: null, annual_usd: null },
    ]);
    expect(json.reads).toMatchObject({ price_usd: '0.001' });
    sales.service.clock.advance(86_400_000);
    await sales.service.restart();
    expect((await sales.service.get('/pricing')).json.valid_from).toBe(json.valid_from);
    const env = { TALLY_DATA_DIR: sales.service.config.dataDir, TALLY_PRICE_PRO: '30.5' };
    const dearer = await startPaidService(sales.chain, { env, clock: sales.service.clock });
    services.unshift(dearer);
    const changed = (await dearer.get('/pricing')).json;
    expect(changed.valid_from).not.toBe(json.valid_from);
    expect(changed.anchor_tiers).toMatchObject([{}, { monthly_usd: '30.5', annual_usd: '305' }, {}, {}]);
  });
});

describe('a key that is paid for in another way', () => {
  it('is issued once for its payment, and given again for three days', async () => {
    await start();
    const { keySales } = sales.service.services;
    const request = {
      tier: 'scale' as const,
      months: 1 as const,
      contact: null,
      did: null,
      payment: { reference: 'x402:a' },
    };
    const [first, again] = await Promise.all([
      keySales.issuePaidKey(request),
      keySales.issuePaidKey(request),
    ]);
    expect(first).toEqual(again);
    expect(first.key).toMatch(/^k_scale_/);
    expect(await works(first.key ?? '')).toBe(200);
    sales.service.clock.advance(73 * 3_600_000);
    await deliver();
    expect(await keySales.issuePaidKey(request)).toEqual({ ...first, key: null });
    const other = await keySales.issuePaidKey({ ...request, payment: { reference: 'x402:b' } });
    expect(other.id).not.toBe(first.id);
  });

  it('keeps neither key nor seed in the database once it is delivered', async () => {
    await start();
    await sales.chain.pay(PRO, `tier=pro contact=${sales.hook.domain}`);
    await watch(sales.service);
    await deliver();
    const { document } = await sales.hook.next();
    const rows = JSON.stringify(
      [await orders(), await collect(sales.service.services.store.apiKeys.list())],
      (_, value) => (typeof value === 'bigint' ? String(value) : (value as unknown)),
    );
    expect(rows).not.toContain(document.key.slice(6));
    expect((await orders())[0]?.seed).toBeNull();
  });
});
