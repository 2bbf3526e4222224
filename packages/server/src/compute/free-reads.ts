import { TallyError } from '@tallystick/core';
import type { Agent, Agents, SignedExchange } from '../agents/agents.ts';
import type { ApiKey, ApiKeys } from '../api-keys/authenticate.ts';
import type { Clients } from '../http/client.ts';
import { isProbe } from '../http/context.ts';
import { showRateLimit } from '../http/rate-limit.ts';
import type { Store } from '../store/store.ts';

/** Who reads. */
export interface Reader extends Agent {
  readonly key: ApiKey | null;
}

export interface FreeReads {
  /**
   * Counts a read (specification 3.2) by the DID and by the address that it comes from, unless it carries an API key.
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
  'signature_invalid',
  'invalid_field',
] as const;

interface Means {
  readonly agents: Agents;
  readonly apiKeys: ApiKeys;
  readonly clients: Pick<Clients, 'group'>;
  readonly store: Pick<Store, 'consume'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

interface Limit {
  /** Reads a UTC day; 0 turns the counting off. */
  readonly perDay: number;
  readonly development: boolean;
}

const NAME = 'free-read';
const DAY_SECONDS = 86_400;

export function createFreeReads(means: Means, { perDay, development }: Limit): FreeReads {
  const { agents, apiKeys, clients, store, clock } = means;

  const count = async (call: SignedExchange, agent: Agent): Promise<void> => {
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
    if (outcomes.every(({ allowed }) => allowed)) return;
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
      if (key === null && perDay > 0 && !isProbe(call.c)) await count(call, agent);
      return { ...agent, key };
    },
  };
}

/** Nobody uses up another’s reads by naming a DID without proof. */
function counterOf({ did, proved }: Agent): string[] {
  if (did === null) return [];
  return [`${proved ? 'did' : 'unproved'}:${did}`];
}
