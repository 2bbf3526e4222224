import { z } from '@hono/zod-openapi';
import { AGENT_HEADERS, CALLER_ERRORS, carriesSignature, ownerOf } from '@tallystick/callers';
import { formatTimestamp, TallyError } from '@tallystick/core';
import { money } from '@tallystick/inference';
import { idempotencyClaim, type ReceivedBody, Refusal } from '@tallystick/kit';
import { formatUsdc, parseUsdc, type StatementLine } from '@tallystick/ledger';
import { openQuote, type PayoutRow, requestWithdrawal, toNanoUsdc } from '@tallystick/payments';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { EXPORT_TYPES, listAnswer, listQuery, pageSchema } from '../http/list.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { linesBefore } from './balance-lines.ts';
import { moneySchema } from './compute-svc-shapes.ts';
import { countQuote, paymentInstructions, paymentSchema, requireMoney } from './quotes.ts';
import { evmAddress, timestamp, txHash, usdc } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'clock' | 'store' | 'clients' | 'callers' | 'money'>;

const GROUP = 'Balance';
const PAGE = 100;
const MAX_PAGE = 1_000;

const HEADERS = {
  Authorization: '`Bearer` and the API key whose balance is meant.',
  ...AGENT_HEADERS,
};

const accountName = z.string().openapi({
  description:
    'The ledger account: `caller:` and the id of the API key or the DID; `development` where nobody is named.',
  example: 'caller:key_4fmx07q2zk81ab9c',
});

/** Prepaid balances: the balance, its statement, how to pay in, and how to withdraw. */
export function balanceRoutes(services: Needs): Endpoint[] {
  return [
    balance(services),
    statement(services),
    entries(services),
    topUpQuote(services),
    withdraw(services),
    withdrawals(services),
  ];
}

function balance({ callers, store, config }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/balance',
    operationId: 'getBalance',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'Read the balance of an account',
    description:
      'The account is that of the API key, or of the DID that a message signature proves. `reserved` is held for calls in progress; `available` is what a call can spend.',
    availability: 'live',
    headers: HEADERS,
    answers: {
      200: {
        description: 'The balance',
        schema: z
          .object({
            account: accountName,
            asset: usdc,
            balance: moneySchema.openapi({ description: 'All that is in the account.' }),
            reserved: moneySchema.openapi({ description: 'Of it, what is put aside for calls under way.' }),
            available: moneySchema.openapi({ description: 'What a call can spend.' }),
            low: z.boolean().openapi({ description: 'Whether `available` is below `low_below`.' }),
            low_below: moneySchema.openapi({ description: 'Below this the balance is called low.' }),
          })
          .openapi('Balance', { description: 'What is in an account.' }),
      },
    },
    errors: CALLER_ERRORS,
    async handle(call) {
      const { account } = await callers.callerOf(call);
      const { balance: total, reserved } = await store.ledger.balance(account);
      const available = total - reserved;
      const { lowBalance } = config.sales;
      return json(
        {
          account,
          asset: 'USDC',
          balance: money(total),
          reserved: money(reserved),
          available: money(available),
          low: available < lowBalance,
          low_below: money(lowBalance),
        },
        PRIVATE,
      );
    },
  });
}

const PRIVATE = { headers: { 'cache-control': 'no-store' } };

function statement({ callers, store }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/balance/statement',
    operationId: 'getBalanceStatement',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'List the entries of an account',
    description:
      'Oldest first, in pages: `next` is the `after` of the next page, and null on the last page. For a call, `id` is the id of its receipt and `memo` is its model. Of an account’s keys, only one that may manage keys reads it.',
    availability: 'live',
    headers: HEADERS,
    query: z.strictObject({
      after: z
        .string()
        .regex(/^\d{1,15}$/, 'Not the number of an entry')
        .optional()
        .openapi({ description: 'Return the entries after this number; from the first when absent.' }),
      limit: z
        .string()
        .regex(/^(?:[1-9]\d{0,2}|1000)$/, `Not 1 to ${MAX_PAGE}`)
        .optional()
        .openapi({ description: `${PAGE} when absent, ${MAX_PAGE} at most.` }),
    }),
    answers: {
      200: {
        description: 'The entries',
        schema: z.object({
          account: accountName,
          asset: usdc,
          lines: z
            .array(
              z.object({
                line: z.int().openapi({ minimum: 1, description: 'The number of the line.' }),
                at: timestamp.openapi({ description: 'When it was written.' }),
                amount: moneySchema.openapi({ description: 'What came in, or with a minus went out.' }),
                balance: moneySchema.openapi({ description: 'What was in the account after it.' }),
                memo: z.string().openapi({ description: 'What it was for.' }),
                id: z.string().openapi({ description: 'The id of what caused it, such as a receipt’s.' }),
              }),
            )
            .openapi({ description: 'The lines, oldest first.' }),
          next: z
            .int()
            .nullable()
            .openapi({ description: 'The `after` of the next page; null on the last one.' }),
        }),
      },
    },
    errors: [...CALLER_ERRORS, 'key_cannot_manage'],
    async handle(call) {
      const caller = await callers.callerOf(call);
      if (caller.key !== null) ownerOf(caller);
      const { account } = caller;
      const limit = Number(call.query.limit ?? PAGE);
      const after = Number(call.query.after ?? 0);
      // Reading one more than is answered shows whether there is a next page.
      const lines = await store.ledger.statement(account, { after, limit: limit + 1 });
      const page = lines.slice(0, limit);
      const next = lines.length > limit ? (page.at(-1)?.line ?? null) : null;
      return json({ account, asset: 'USDC', lines: page.map(lineDocument), next }, PRIVATE);
    },
  });
}

function lineDocument({ line, at, amount, balance: total, memo, posting }: StatementLine) {
  return {
    line,
    at: formatTimestamp(at * 1000),
    amount: money(amount),
    balance: money(total),
    memo,
    id: posting,
  };
}

const signedDollars = z.string().openapi({ pattern: String.raw`^-?\d+(\.\d+)?$`, example: '-0.0008' });

const entrySchema = z
  .object({
    line: z.int().openapi({ minimum: 1, description: 'The number of the entry.' }),
    at: timestamp.openapi({ description: 'When it was written.' }),
    amount_usdc: signedDollars.openapi({ description: 'What came in, or with a minus went out.' }),
    balance_usdc: signedDollars.openapi({ description: 'What was in the account after it.' }),
    memo: z.string().openapi({ description: 'What it was for; for a call, its model.' }),
    id: z.string().openapi({ description: 'The id of what caused it, such as a receipt’s.' }),
  })
  .openapi('BalanceEntry', { description: 'An entry of an account.' });

function entries({ callers, store }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/balance/entries',
    operationId: 'listBalanceEntries',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'List the entries of an account, newest first',
    description:
      'What `GET /v1/balance/statement` gives in the order of time, as a list like all others: of a period, by cursor, or with `format` as a file. Of an account’s keys, only one that may manage keys reads it.',
    availability: 'live',
    headers: HEADERS,
    query: z.strictObject(listQuery),
    answers: {
      200: {
        description: 'The entries, newest first',
        schema: pageSchema(entrySchema),
        otherwise: EXPORT_TYPES,
      },
    },
    errors: [...CALLER_ERRORS, 'key_cannot_manage'],
    async handle(call) {
      const caller = await callers.callerOf(call);
      if (caller.key !== null) ownerOf(caller);
      return listAnswer(call.query, {
        name: 'statement',
        read: (page) => linesBefore(store.ledger, caller.account, page),
        placeOf: ({ at, line }) => ({ at: at * 1000, id: String(line) }),
        show: ({ line, at, amount, balance: total, memo, posting }) => ({
          line,
          at: formatTimestamp(at * 1000),
          amount_usdc: formatUsdc(amount),
          balance_usdc: formatUsdc(total),
          memo,
          id: posting,
        }),
        columns: Object.keys(entrySchema.shape),
      });
    },
  });
}

const amount = z.string().openapi({
  description: 'Decimal USDC, at most 6 decimals.',
  pattern: String.raw`^\d+(\.\d{1,6})?$`,
  example: '25',
});

function topUpQuote(services: Needs): Endpoint {
  const { callers, store, clock } = services;
  return endpoint({
    method: 'post',
    path: '/v1/balance/quote',
    operationId: 'quoteTopUp',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'Get a quote to top up by a transfer without memo',
    description:
      'Returns an exact amount, up to 0.05 USDC above the requested one. A transfer of exactly that amount to the treasury is credited to the account. A transfer of any amount with the memo `account=<key id or DID>` needs no quote.',
    availability: 'live',
    headers: HEADERS,
    body: z.strictObject({ amount }),
    example: { amount: '25' },
    answers: { 200: { description: 'What to pay', schema: paymentSchema } },
    errors: [...CALLER_ERRORS, 'rate_limited', 'payments_off', 'unavailable'],
    admit: callers.admitCaller,
    async handle(call) {
      const { account } = await callers.callerOf(call);
      const at = requireMoney(services);
      const topUp = positive(parseUsdc(call.body.amount));
      await countQuote(services, call);
      const order = await openQuote(store, topUp, { kind: 'top_up', account }, clock());
      return json({ order_id: order.id, ...paymentInstructions(order, at) }, PRIVATE);
    },
  });
}

function positive(topUp: bigint): bigint {
  if (topUp > 0n) return topUp;
  throw new TallyError('invalid_field', 'The amount must be more than 0.', { field: 'amount' });
}

const withdrawalSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the withdrawal.' }),
    state: z.enum(['waiting', 'paying', 'paid', 'declined']).openapi({ description: 'What became of it.' }),
    network: z.string().openapi({ description: 'CAIP-2.', example: 'eip155:8453' }),
    address: evmAddress.openapi({ description: 'Where it is paid to.' }),
    amount: moneySchema.openapi({ description: 'What is paid.' }),
    requested_at: timestamp.openapi({ description: 'When it was asked for.' }),
    tx_hash: txHash.nullable().openapi({ description: 'The transaction that pays it; null until then.' }),
    note: z.string().nullable().openapi({ description: 'What the operator says of it.' }),
  })
  .openapi('Withdrawal', { description: 'A withdrawal, and what became of it.' });

function withdraw(services: Needs): Endpoint {
  const { store, clock, config } = services;
  return endpoint({
    method: 'post',
    path: '/v1/balance/withdrawals',
    operationId: 'requestWithdrawal',
    credentials: ['messageSignature'],
    group: GROUP,
    summary: 'Request a withdrawal for a DID',
    description:
      'Holds the amount until the operator pays it out on the chain; requests are paid in batches. Only for a DID that a message signature proves.',
    availability: 'live',
    headers: {
      ...AGENT_HEADERS,
      'Idempotency-Key': 'Repeating the key never makes a second withdrawal, however much later.',
    },
    body: z.strictObject({
      address: evmAddress.openapi({ description: 'An address on the network, with a valid checksum.' }),
      amount,
    }),
    example: { address: '0x52908400098527886E0F7030069857D2E4169EE7', amount: '2.5' },
    answers: { 200: { description: 'The withdrawal', schema: withdrawalSchema } },
    errors: [
      'signature_invalid',
      'invalid_field',
      'insufficient_balance',
      'idempotency_key_invalid',
      'idempotency_key_reused',
      'payments_off',
      'unavailable',
    ],
    admit: requireSignature,
    async handle(call) {
      const did = await provedDid(services, call);
      const { token, treasury } = requireMoney(services);
      const watched = (await store.treasury.cursors(token.network)).map((one) => one.treasury);
      const now = clock();
      const request = await requestWithdrawal(store, {
        did,
        network: token.network,
        address: await payable(call.body.address, [treasury, token.usdc, ...watched]),
        amount: parseUsdc(call.body.amount),
        minimum: config.sales.minWithdrawal,
        idempotency: idempotencyClaim(call.incoming, {
          caller: did,
          route: 'withdrawals',
          body: call.body,
          now,
        }),
        now,
      });
      return json(withdrawalDocument(request), PRIVATE);
    },
  });
}

/** @throws signature_invalid for a request without a message signature; a wrong one is detected with the body */
function requireSignature({ incoming }: Pick<Exchange, 'incoming'>): void {
  if (!carriesSignature(incoming)) throw unsigned();
}

/** @throws signature_invalid where the DID is not proved */
async function provedDid({ callers }: Pick<Services, 'callers'>, call: ReceivedBody): Promise<string> {
  const agent = await callers.agentOf(call);
  if (agent.proved) return agent.did;
  throw unsigned();
}

function unsigned(): Refusal {
  return new Refusal(
    'signature_invalid',
    'Only the DID itself may withdraw: sign the request as that DID (RFC 9421; see spec/identity.md).',
    { bearer: 'missing' },
  );
}

/** The address in lower case. @throws invalid_field if it is invalid, or nobody can spend from it */
async function payable(text: string, ours: readonly string[]): Promise<string> {
  const { isAddress } = await import('viem/utils');
  const address = text.toLowerCase();
  const refused = ['0x0000000000000000000000000000000000000000', ...ours].map((one) => one.toLowerCase());
  if (isAddress(text) && !refused.includes(address)) return address;
  throw new TallyError(
    'invalid_field',
    'That is not an address that can be paid, or its checksum is wrong.',
    {
      field: 'address',
    },
  );
}

function withdrawals(services: Needs): Endpoint {
  const { store } = services;
  return endpoint({
    method: 'get',
    path: '/v1/balance/withdrawals',
    operationId: 'listWithdrawals',
    credentials: ['messageSignature'],
    group: GROUP,
    summary: 'List the withdrawals of a DID',
    description:
      'Newest first. `from` and `to` are times of requests. Only for a DID that a message signature proves.',
    availability: 'live',
    headers: AGENT_HEADERS,
    query: z.strictObject(listQuery),
    answers: {
      200: {
        description: 'The withdrawals and their states',
        schema: pageSchema(withdrawalSchema).extend({
          withdrawals: z
            .array(withdrawalSchema)
            .openapi({ description: 'The rows of `data`, oldest first.' }),
        }),
        otherwise: EXPORT_TYPES,
      },
    },
    errors: ['signature_invalid', 'invalid_field'],
    async handle(call) {
      const account = `caller:${await provedDid(services, call)}`;
      return listAnswer(call.query, {
        name: 'withdrawals',
        read: ({ from, before, limit }) =>
          store.treasury.newestWithdrawals(account, {
            from: Math.ceil(from / 1000),
            before: { createdAt: Math.ceil(before.at / 1000), id: before.id },
            limit,
          }),
        placeOf: ({ createdAt, id }) => ({ at: createdAt * 1000, id }),
        show: withdrawalDocument,
        columns: WITHDRAWAL_COLUMNS,
        alias: (data) => ({ withdrawals: data.toReversed() }),
      });
    },
  });
}

const WITHDRAWAL_COLUMNS = Object.keys(withdrawalSchema.shape).flatMap((name) =>
  name === 'amount' ? ['amount.usdc', 'amount.nano'] : [name],
);

function withdrawalDocument({
  id,
  state,
  network,
  address,
  amount: units,
  createdAt,
  txHash,
  note,
}: PayoutRow) {
  return {
    id,
    state,
    network,
    address,
    amount: money(toNanoUsdc(units)),
    requested_at: formatTimestamp(createdAt * 1000),
    tx_hash: txHash,
    note,
  };
}
