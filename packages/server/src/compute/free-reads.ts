import { hash, randomUUID } from 'node:crypto';
import { canonicalize, TallyError } from '@tallystick/core';
import type { Agent, Agents, SignedExchange } from '../agents/agents.ts';
import type { ApiKey, ApiKeys } from '../api-keys/authenticate.ts';
import type { Clients } from '../http/client.ts';
import { isProbe } from '../http/context.ts';
import type { EndpointPrice } from '../http/price.ts';
import { showRateLimit } from '../http/rate-limit.ts';
import { type Payments, type PricedOrder, toNano } from '../payments/x402/payments.ts';
import type { Store } from '../store/store.ts';
import { callerAccount, REVENUE } from './ledger/accounts.ts';

/** Who reads. */
export interface Reader extends Agent {
  readonly key: ApiKey | null;
}

export interface FreeReads {
  /**
   * Counts a read (specification 3.2) by the DID and by the address that it comes from, unless it carries an API key.
   * With payments on, what is over the count is paid for, and so is what names no DID (specification 5.5): from the
   * balance of a DID that is proved, else by x402.
   * @throws rate_limited, with `Retry-After`; signature_invalid, api_key_invalid, api_key_revoked; invalid_field for an
   * `X-Agent-DID` that is no DID
   */
  readonly admit: (call: SignedExchange) => Promise<Reader>;
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

interface Means {
  readonly agents: Agents;
  readonly apiKeys: ApiKeys;
  readonly clients: Pick<Clients, 'group'>;
  readonly store: Pick<Store, 'consume' | 'ledger'>;
  /** Null with payments off. */
  readonly payments: Payments | null;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

interface Limit {
  /** Reads a UTC day; 0 turns the counting off. */
  readonly perDay: number;
  readonly development: boolean;
}

/** 0.001 USDC. */
const PRICE = 1_000n;
const SCHEMES = ['batch-settlement'] as const;
/** For how long a payment may be repeated: until then the answer may have been lost. */
const REPEAT_SECONDS = 600;

/** Of every endpoint that `FreeReads` admits. */
export const READ_PRICE = {
  usd: '0.001',
  unit: 'read beyond the free ones',
  schemes: SCHEMES,
} as const satisfies EndpointPrice;

const NAME = 'free-read';
const DAY_SECONDS = 86_400;

export function createFreeReads(means: Means, { perDay, development }: Limit): FreeReads {
  const { agents, apiKeys, clients, store, payments, clock } = means;

  const count = async (call: SignedExchange, agent: Agent): Promise<'free' | 'used_up'> => {
    const now = clock();
    const day = Math.floor(now / 1000 / DAY_SECONDS);
    const resetAt = (day + 1) * DAY_SECONDS;
    const counters = [`address:${clients.group(call.c)}`, ...counterOf(agent)];
    // Together, so that they share one commit.
    const outcomes = await Promise.all(
      counters.map((counter) => store.consume(`${NAME}:${day}:${counter}`, perDay, resetAt)),
    );
    const used = Math.max(...outcomes.map((outcome) => outcome.used));
    const window = { name: NAME, limit: perDay, seconds: DAY_SECONDS, resetAt };
    const left = showRateLimit(call, window, used, now);
    if (outcomes.every(({ allowed }) => allowed)) return 'free';
    if (payments !== null) return 'used_up';
    call.headers['retry-after'] = String(left);
    throw new TallyError(
      'rate_limited',
      `The ${perDay} free reads of this UTC day are used up. Try again in ${left} s, or send an API key.`,
    );
  };

  return {
    async admit(call) {
      const key = await apiKeys.findAny(call, { ignoreStrangers: development });
      const agent = await agents.agentOf(call);
      if (key !== null || perDay === 0 || isProbe(call.c)) return { ...agent, key };
      if (payments === null) await count(call, agent);
      else if (payments.offered(call) !== null) await pay(payments, call);
      else if (agent.did === null || (await count(call, agent)) === 'used_up') {
        if (!(await payFromBalance(store, agent, clock()))) await pay(payments, call);
      }
      return { ...agent, key };
    },
  };
}

async function pay(payments: Payments, call: SignedExchange): Promise<void> {
  const paid = await payments.charge(call, orderOf(call));
  await paid.delivered(null);
}

function orderOf({ c, rawBody }: SignedExchange): PricedOrder {
  const { pathname, search } = new URL(c.req.url);
  const path = pathname + search;
  const request = [c.req.method, path, hash('sha256', rawBody)];
  return {
    path,
    description: 'A read beyond the free ones',
    schemes: SCHEMES,
    requestHash: hash('sha256', canonicalize(request)),
    amount: PRICE,
    credit: REVENUE,
    repeatSeconds: REPEAT_SECONDS,
  };
}

/** Whether the DID is proved, and its balance has paid. */
async function payFromBalance(
  { ledger }: Pick<Store, 'ledger'>,
  agent: Agent,
  now: number,
): Promise<boolean> {
  const { did, proved } = agent;
  if (did === null || !proved) return false;
  const price = toNano(PRICE);
  const outcome = await ledger.post({
    id: `read:${randomUUID()}`,
    memo: 'a read',
    at: Math.floor(now / 1000),
    entries: [
      { account: callerAccount(did), amount: -price },
      { account: REVENUE, amount: price },
    ],
  });
  return outcome === 'posted';
}

/** Nobody uses up another’s reads by naming a DID without proof. */
function counterOf({ did, proved }: Agent): string[] {
  if (did === null) return [];
  return [`${proved ? 'did' : 'unproved'}:${did}`];
}
