import { encodePaymentSignatureHeader } from '@x402/core/http';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { devAccount } from '../packages/chain/src/token/dev-accounts.ts';
import { type Conduct, startFacilitator, type TestFacilitator } from './facilitator.ts';
import { type PaidService, startPaidService } from './paid-service.ts';
import { payer, settlementOf } from './payer.ts';
import { exactPayment, requiredBy, type Twist } from './signed-payment.ts';

const PRICE = 800n;
const alice = devAccount('alice');

let facilitator: TestFacilitator;
let service: PaidService;
let inputs = 0;

beforeAll(async () => {
  facilitator = await startFacilitator();
  service = await startPaidService({
    TALLY_X402_FACILITATOR: facilitator.url,
    TALLY_X402_WAIT_SECONDS: '1',
  });
  facilitator.use(service.money.rpcUrl);
});
beforeEach(() => facilitator.behave((settle) => settle()));
afterAll(async () => {
  await service.close();
  await facilitator.close();
});

/** A request for a receipt, the same each time that it is sent. */
function order(input = `order ${(inputs += 1)}`) {
  return (headers: Record<string, string> = {}): Promise<Response> =>
    service.post('/v1/receipt/emit', { input }, headers);
}

async function pay(send: ReturnType<typeof order>, twist: Twist = {}, account = alice) {
  return exactPayment(account, requiredBy(await send()), twist);
}

/** How much the treasury got, meanwhile. */
async function gained(work: () => Promise<void>): Promise<bigint> {
  const { treasury } = service.money;
  const before = await service.usdc(treasury);
  await work();
  await service.expectLedgerIsChain();
  return (await service.usdc(treasury)) - before;
}

async function problemOf(response: Response): Promise<{ status: number; code: unknown; error: unknown }> {
  const { code, payment } = (await response.json()) as { code: string; payment?: { error: string } };
  return { status: response.status, code, error: payment?.error ?? null };
}

describe('a payment', () => {
  it('that comes again gets the same receipt, and is taken once', async () => {
    expect(
      await gained(async () => {
        const send = order();
        const payment = await pay(send);
        const first = await send(payment);
        const again = await send(payment);
        expect([first.status, again.status]).toEqual([200, 200]);
        expect(await again.text()).toBe(await first.text());
        expect(settlementOf(again).transaction).toBe(settlementOf(first).transaction);
        expect(again.headers.get('idempotency-replayed')).toBe('true');
      }),
    ).toBe(PRICE);
  });

  it('pays for no other request', async () => {
    expect(
      await gained(async () => {
        const send = order();
        const payment = await pay(send);
        await send(payment);
        expect(await problemOf(await order()(payment))).toMatchObject({
          status: 409,
          code: 'payment_reused',
        });
      }),
    ).toBe(PRICE);
  });

  it('with the identifier of an earlier one stays unused, and gets the earlier receipt', async () => {
    expect(
      await gained(async () => {
        const send = order();
        const id = 'pay_0123456789abcdef';
        const extensions = { 'payment-identifier': { info: { required: false, id } } };
        const [first, second] = [await pay(send, { extensions }), await pay(send, { extensions })];
        const receipt = await (await send(first)).text();
        expect(await (await send(second)).text()).toBe(receipt);
        const other = await problemOf(await order()(await pay(send, { extensions })));
        expect(other).toMatchObject({ status: 409, code: 'payment_reused' });
      }),
    ).toBe(PRICE);
  });

  it('in two requests at once is taken once, and both get one receipt', async () => {
    expect(
      await gained(async () => {
        const send = order();
        const payment = await pay(send);
        const responses = await Promise.all([send(payment), send(payment), send(payment)]);
        const paid = responses.filter(({ status }) => status === 200);
        const others = responses.filter(({ status }) => status !== 200);
        expect(paid.length).toBeGreaterThan(0);
        expect(new Set(await Promise.all(paid.map((response) => response.text()))).size).toBe(1);
        for (const response of others) {
          expect(await problemOf(response)).toMatchObject({ status: 409, code: 'payment_in_progress' });
        }
      }),
    ).toBe(PRICE);
  });

  const USDC = '0x05dc000000000000000000000000000000000007';
  test.each<[string, Twist, string]>([
    [
      'of less than the price, and says so',
      { accepted: { amount: '1' } },
      'no_matching_payment_requirements',
    ],
    ['of less than the price', { value: 1n }, 'invalid_exact_evm_payload_authorization_value'],
    ['of more than the price', { value: 801n }, 'invalid_exact_evm_payload_authorization_value'],
    ['in another asset', { accepted: { asset: USDC } }, 'no_matching_payment_requirements'],
    ['on another network', { accepted: { network: 'eip155:1' } }, 'no_matching_payment_requirements'],
    ['to somebody else', { to: USDC }, 'recipient_mismatch'],
    [
      'whose time is over',
      { validBefore: 1_700_000_000 },
      'invalid_exact_evm_payload_authorization_valid_before',
    ],
  ])('%s is refused, and not taken', async (_name, twist, reason) => {
    const asked = facilitator.requests.count;
    expect(
      await gained(async () => {
        const send = order();
        const refused = await problemOf(await send(await pay(send, twist)));
        expect(refused).toEqual({
          status: 402,
          code: 'payment_required',
          error: expect.stringContaining(reason),
        });
      }),
    ).toBe(0n);
    expect(facilitator.requests.count).toBe(asked);
  });

  test.each<[string, Record<string, unknown>]>([
    ['missing_field', {}],
    ['empty_input', { input: '' }],
    ['conflicting_fields', { input: 'one', payload: 'other' }],
    ['receipt_too_large', { input: 'one', purpose: 'p'.repeat(3_000) }],
  ])('for a receipt that can’t be signed (%s) is not taken, and pays for the next', async (code, body) => {
    expect(
      await gained(async () => {
        const payment = await pay(order());
        const response = await service.post('/v1/receipt/emit', body, payment);
        expect(await problemOf(response)).toMatchObject({ status: 422, code });
      }),
    ).toBe(0n);
    const payment = await pay(order());
    expect((await service.post('/v1/receipt/emit', body, payment)).status).toBe(422);
    expect((await order()(payment)).status).toBe(200);
  });

  it('of who has nothing is refused', async () => {
    expect(
      await gained(async () => {
        const send = order();
        const payment = await pay(send, {}, privateKeyToAccount(generatePrivateKey()));
        const refused = await problemOf(await send(payment));
        expect(refused).toMatchObject({ status: 402, code: 'payment_required' });
        expect(refused.error).toContain('insufficient');
      }),
    ).toBe(0n);
  });

  test.each<[string, Record<string, string | undefined>, string | null]>([
    ['no start', { validAfter: undefined }, null],
    ['a start that is no number', { validAfter: 'soon' }, null],
    ['a signature that is none', {}, '0xzz'],
    ['a signature that is cut off', {}, `0x${'ab'.repeat(200)}${'6492'.repeat(16)}`],
  ])('with %s is refused, not taken for a fault of the facilitator', async (_name, twist, signature) => {
    const send = order();
    const { 'payment-signature': header } = await pay(send);
    const payment = JSON.parse(Buffer.from(header, 'base64').toString()) as {
      payload: { signature: string; authorization: Record<string, string> };
    };
    Object.assign(payment.payload.authorization, twist);
    if (signature !== null) payment.payload.signature = signature;
    const refused = await problemOf(
      await send({ 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') }),
    );
    expect(refused).toMatchObject({ status: 402, code: 'payment_required' });
  });

  test.each(['%%%', 'e30=', Buffer.from('{"x402Version":1}').toString('base64')])(
    'that is none (%s) is malformed',
    async (text) => {
      const refused = await problemOf(await order()({ 'payment-signature': text }));
      expect(refused).toMatchObject({ status: 400, code: 'payment_malformed' });
    },
  );
});

const network = 'eip155:31337';
interface Voucher {
  signature: string;
}

const FAILED = { success: false, errorReason: 'transaction_failed', transaction: '', network } as const;

let salts = 0;
function saltOf(): `0x${string}` {
  salts += 1;
  return `0x${salts.toString(16).padStart(64, '0')}`;
}

const FORGED = `0x${'ab'.repeat(32)}`;

describe('whatever the facilitator says', () => {
  test.each<[string, Conduct]>([
    ['nothing, having settled', async (settle) => (await settle(), 'hang_up')],
    [
      'that it failed, having settled',
      async (settle) => {
        await settle();
        return { success: false, errorReason: 'insufficient_funds', transaction: '', network };
      },
    ],
    [
      'that it is pending, having settled',
      async (settle) => ({ ...(await settle()), success: false, errorReason: 'settlement_pending' }),
    ],
    ['another transaction, having settled', async (settle) => ({ ...(await settle()), transaction: FORGED })],
  ])('%s, a settled payment is delivered', async (_name, conduct) => {
    expect(
      await gained(async () => {
        const send = order();
        const payment = await pay(send);
        facilitator.behave(conduct);
        const response = await send(payment);
        expect(response.status, await response.clone().text()).toBe(200);
        const { settlement_reference } = (await response.json()) as { settlement_reference: { tx: string } };
        const expected = { from: alice.address, to: service.money.treasury, amount: PRICE };
        expect(await service.money.token.settled(settlement_reference.tx, expected)).toBe('confirmed');
      }),
    ).toBe(PRICE);
  });

  it('that it failed: another payment with its identifier is taken', async () => {
    expect(
      await gained(async () => {
        const send = order();
        const key = { 'idempotency-key': 'order-of-the-failed-one' };
        facilitator.behave(async () => FAILED);
        expect(await problemOf(await send({ ...key, ...(await pay(send)) }))).toMatchObject({
          status: 402,
          error: 'transaction_failed',
        });
        facilitator.behave((settle) => settle());
        const response = await send({ ...key, ...(await pay(send)) });
        expect(response.status, await response.clone().text()).toBe(200);
        const again = await send({ ...key, ...(await pay(send)) });
        expect(await again.text()).toBe(await response.text());
      }),
    ).toBe(PRICE);
  });

  it('that it failed, having settled it late: another payment with its identifier stays unused', async () => {
    expect(
      await gained(async () => {
        const send = order();
        const key = { 'idempotency-key': 'order-of-the-late-one' };
        facilitator.behave(async () => FAILED);
        expect((await send({ ...key, ...(await pay(send)) })).status).toBe(402);
        const { transaction } = await facilitator.settleLast();
        facilitator.behave((settle) => settle());
        const response = await send({ ...key, ...(await pay(send)) });
        expect(response.status, await response.clone().text()).toBe(200);
        expect(settlementOf(response).transaction).toBe(transaction);
      }),
    ).toBe(PRICE);
  });

  let earlier = '';
  test.each<[string, () => Conduct]>([
    ['a transaction that is not there', () => async () => ({ success: true, transaction: FORGED, network })],
    [
      'the transaction of another payment',
      () => async () => ({ success: true, transaction: earlier, network }),
    ],
    ['nothing', () => async () => 'hang_up'],
  ])('that it settled, with %s: nothing is delivered before it is true', async (_name, conduct) => {
    expect(
      await gained(async () => {
        const before = order();
        earlier = settlementOf(await before(await pay(before))).transaction;
        const send = order();
        const payment = await pay(send);
        facilitator.behave(conduct());
        const refused = await send(payment);
        expect(refused.headers.get('retry-after')).toBe('5');
        expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'payment_unconfirmed' });
        facilitator.behave((settle) => settle());
        const response = await send(payment);
        expect(response.status, await response.clone().text()).toBe(200);
        expect(settlementOf(response).transaction).not.toBe(earlier);
      }),
    ).toBe(2n * PRICE);
  });

  test.each<[string, Conduct]>([
    ['nothing, having made it', async (settle) => (await settle(), 'hang_up')],
    ['that it failed, having made it', async (settle) => (await settle(), { ...FAILED, transaction: '' })],
  ])('of a deposit: %s, the voucher is taken', async (_name, conduct) => {
    facilitator.behave(conduct);
    const response = await nano();
    expect(response.status, await response.clone().text()).toBe(200);
    await service.expectLedgerIsChain();
  });

  it('that a deposit was made which was not: nothing is delivered before it is true', async () => {
    const salt = saltOf();
    facilitator.behave(async () => ({ ...FAILED, success: true, transaction: FORGED }));
    expect(await problemOf(await nano(salt))).toMatchObject({ status: 503, code: 'payment_unconfirmed' });
    facilitator.behave((settle) => settle());
    const response = await nano(salt);
    expect(response.status, await response.clone().text()).toBe(200);
    await service.expectLedgerIsChain();
  });

  test.each<[string, (voucher: Voucher) => void]>([
    ['is not signed', (voucher) => (voucher.signature = `0x${'11'.repeat(65)}`)],
    ['no deposit covers', () => {}],
  ])('that a voucher is good which %s: nothing is delivered', async (_name, spoil) => {
    const { client } = payer('bob', service.money.rpcUrl, { schemes: ['batch-settlement'], salt: saltOf() });
    const body = { input: 'by a bad voucher' };
    const refused = await service.post('/v1/receipt/emit?profile=nano', body);
    const payment = await client.createPaymentPayload(requiredBy(refused));
    const { channelConfig, voucher } = payment.payload as { channelConfig: unknown; voucher: Voucher };
    spoil(voucher);
    const bare = { ...payment, payload: { type: 'voucher', channelConfig, voucher } };
    facilitator.approve(true);
    const headers = { 'payment-signature': encodePaymentSignatureHeader(bare) };
    const response = await service.post('/v1/receipt/emit?profile=nano', body, headers);
    facilitator.approve(false);
    expect(await problemOf(response)).toMatchObject({ status: 402, code: 'payment_required' });
  });

  /** A nano receipt by the first voucher of a channel. */
  function nano(salt = saltOf()): Promise<Response> {
    const { fetch } = payer('bob', service.money.rpcUrl, { schemes: ['batch-settlement'], salt });
    return fetch(`${service.url}/v1/receipt/emit?profile=nano`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: `nano ${salt}` }),
    });
  }

  it('a settlement that shows only after a restart is found, posted and delivered', async () => {
    const send = order('before and after');
    const payment = await pay(send);
    facilitator.behave(async () => 'hang_up');
    expect((await send(payment)).status).toBe(503);
    await facilitator.settleLast();
    await service.service.restart();
    facilitator.use(service.money.rpcUrl);
    await service.payments.sweep();
    await service.expectLedgerIsChain();
    const asked = facilitator.requests.count;
    const reply = await service.service.post('/v1/receipt/emit', { input: 'before and after' }, payment);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json['settlement_reference']).toMatchObject({ status: 'confirmed' });
    expect(facilitator.requests.count).toBe(asked);
    await service.expectLedgerIsChain();
  });
});
