import { hash, randomUUID } from 'node:crypto';
import type { Agent, Callers, Client, ClientAddresses, ClientCall } from '@tallystick/callers';
import { canonicalize } from '@tallystick/core';
import type { CounterStore } from '@tallystick/kit';
import { type EndpointPrice, type ReceivedBody, Refusal, secondsLeft } from '@tallystick/kit';
import type { LedgerStore } from '@tallystick/ledger';
import { callerAccount, parseUsdc, REVENUE } from '@tallystick/ledger';
import { type Payments, type PricedOrder, toNanoUsdc } from '@tallystick/payments';

export interface FreeReads {
  /**
   * Counts a read (specification 5.5) by its DID, and against the higher limit of the address that it comes from, unless
   * it carries an API key. With payments on, a read over either limit is paid for, and so is one that names no DID: by
   * x402, or from the balance of a DID that is proved and has agreed to the price in `X-Accept-Charge`. HEAD is neither counted
   * nor paid for.
   * @throws rate_limited, with `Retry-After`; payment_required; signature_invalid, api_key_invalid, api_key_revoked;
   * invalid_field for an `X-Agent-DID` that is no DID, or an `X-Accept-Charge` that is no amount
   */
  readonly admit: (call: ClientCall) => Promise<Client>;
}

/** The codes that `admit` throws, for the endpoints that use it. */
export const FREE_READ_ERRORS = [
  'rate_limited',
  'api_key_invalid',
  'api_key_revoked',
  'api_key_expired',
  'signature_invalid',
  'invalid_field',
] as const;

interface FreeReadDependencies {
  readonly callers: Pick<Callers, 'clientOf'>;
  readonly clients: Pick<ClientAddresses, 'group'>;
  readonly store: CounterStore & { readonly ledger: LedgerStore };
  /** Null with payments off. */
  readonly payments: Payments | null;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

interface Limits {
  /** Free reads per UTC day of each DID, and of each address without one; 0 turns counting off. */
  readonly perDay: number;
  /** Free reads per UTC day of all DIDs at one address, so that invented DIDs gain little; 0 is no limit. */
  readonly perDayByAddress: number;
}

/** 0.001 USDC. */
const PRICE = 1_000n;
const SCHEMES = ['batch-settlement'] as const;
/** Seconds for which a payment may be repeated, in case the answer was lost. */
const REPEAT_SECONDS = 600;

/** How else a read can be paid, for the text of a refusal. */
const OTHERWISE =
  ', or send X-Agent-DID proved by a signature and X-Accept-Charge: 0.001, which charges its balance; with an API key reads are free';

/** The price of every endpoint that `FreeReads` admits. */
export const READ_PRICE = {
  usd: '0.001',
  unit: 'read beyond the free ones',
  schemes: SCHEMES,
} as const satisfies EndpointPrice;

/** The request header in which a caller agrees to be charged. */
const ACCEPT_CHARGE = 'X-Accept-Charge';

/** Describes the header for the API reference. */
export const CHARGE_HEADERS = {
  [ACCEPT_CHARGE]:
    'Maximum in USDC, such as 0.001, that this request may take from the balance of the proved X-Agent-DID once its free reads are used up. Without this header nothing is taken and the answer is 402.',
} as const;

const DAY_SECONDS = 86_400;

/** The free reads that one counter allows in a UTC day. */
interface Budget {
  /** Name of the policy in the `RateLimit` headers. */
  readonly name: 'free-read' | 'free-read-by-address';
  readonly counter: string;
  readonly limit: number;
  /** The owner of these reads, in the words of a refusal. */
  readonly whose: string;
}

export function createFreeReads(dependencies: FreeReadDependencies, limits: Limits): FreeReads {
  const { callers, store, payments, clock } = dependencies;
  return {
    async admit(call) {
      const client = await callers.clientOf(call);
      const agreed = agreedCharge(call);
      const { method, isProbe } = call.incoming;
      if (client.key !== null || limits.perDay === 0 || isProbe || method === 'HEAD') return client;
      const isOffered = payments !== null && payments.offered(call) !== null;
      // With payments on, a caller without a DID pays for each read.
      const isCounted = payments === null || (client.did !== null && !isOffered);
      if (isCounted && (await count(dependencies, limits, call, client)) === 'free') return client;
      if (payments === null) throw new Error('A read beyond its limit was served.');
      const isCharged =
        !isOffered && agreed >= toNanoUsdc(PRICE) && (await payFromBalance(store, client, clock()));
      if (!isCharged) await pay(payments, call);
      return client;
    },
  };
}

/**
 * Counts one read. The budget of the DID comes first, so that what it refuses does not use up the address's.
 * @throws rate_limited where a budget is used up and no payments are taken
 */
async function count(
  dependencies: FreeReadDependencies,
  limits: Limits,
  call: ReceivedBody,
  agent: Agent,
): Promise<'free' | 'used_up'> {
  const now = dependencies.clock();
  const day = Math.floor(now / 1000 / DAY_SECONDS);
  const resetAt = (day + 1) * DAY_SECONDS;
  let shown: Budget | null = null;
  for (const budget of budgetsOf(agent, dependencies.clients.group(call.incoming), limits)) {
    const { name, limit, whose } = budget;
    const counter = `free-read:${day}:${budget.counter}`;
    const { allowed, used } = await dependencies.store.consume(counter, limit, resetAt);
    const window = { name, limit, seconds: DAY_SECONDS, resetAt };
    // The header of an allowed read shows the budget of the DID.
    const left = secondsLeft(window, now);
    if (!allowed || shown === null) call.incoming.note({ kind: 'rate_limit', window, used, left });
    shown ??= budget;
    if (allowed) continue;
    if (dependencies.payments !== null) return 'used_up';
    throw new Refusal(
      'rate_limited',
      `The ${limit} free reads a day (UTC) ${whose} are used up. Try again in ${left} s, or send an API key.`,
      { retryAfter: left },
    );
  }
  return 'free';
}

/** The address is part of an unproved DID's counter, so nobody can use up another's reads by claiming its DID. */
function budgetsOf({ did, proved }: Agent, address: string, limits: Limits): Budget[] {
  const { perDay, perDayByAddress } = limits;
  const own: Budget =
    did === null
      ? { name: 'free-read', counter: `nobody:${address}`, limit: perDay, whose: 'without an X-Agent-DID' }
      : {
          name: 'free-read',
          counter: `${proved ? 'did' : 'unproved'}:${did}`,
          limit: perDay,
          whose: 'of this DID',
        };
  if (perDayByAddress === 0) return [own];
  return [
    own,
    {
      name: 'free-read-by-address',
      counter: `address:${address}`,
      limit: perDayByAddress,
      whose: 'of this address',
    },
  ];
}

/** The amount that the caller accepts to be charged, in nano-USDC; 0 without the header. @throws invalid_field */
function agreedCharge({ incoming }: ReceivedBody): bigint {
  const text = incoming.header('x-accept-charge');
  return text === undefined ? 0n : parseUsdc(text, ACCEPT_CHARGE);
}

async function pay(payments: Payments, call: ReceivedBody): Promise<void> {
  const paid = await payments.charge(call, orderOf(call));
  await paid.delivered(null);
}

function orderOf({ incoming, rawBody }: ReceivedBody): PricedOrder {
  const { pathname, search } = new URL(incoming.url);
  const path = pathname + search;
  const request = [incoming.method, path, hash('sha256', rawBody)];
  return {
    path,
    description: 'A read beyond the free ones',
    schemes: SCHEMES,
    requestHash: hash('sha256', canonicalize(request)),
    amount: PRICE,
    credit: REVENUE,
    repeatSeconds: REPEAT_SECONDS,
    otherwise: OTHERWISE,
  };
}

/** Whether the DID is proved, and its balance has paid. */
async function payFromBalance(
  { ledger }: { readonly ledger: LedgerStore },
  agent: Agent,
  now: number,
): Promise<boolean> {
  if (!agent.proved) return false;
  const price = toNanoUsdc(PRICE);
  const outcome = await ledger.post({
    id: `read:${randomUUID()}`,
    memo: 'a read',
    at: Math.floor(now / 1000),
    entries: [
      { account: callerAccount(agent.did), amount: -price },
      { account: REVENUE, amount: price },
    ],
  });
  return outcome === 'posted';
}
