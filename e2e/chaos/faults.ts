import { setTimeout } from 'node:timers/promises';
import type { Random } from '../../packages/core/test/random.ts';
import type { Fault, Upstream } from '../../packages/server/test/upstream.ts';
import type { PostingChain } from '../posting-chain.ts';
import type { Fleet } from './fleet.ts';
import type { PostgresPair } from './postgres-pair.ts';

/** What can be broken. */
export interface Parts {
  readonly fleet: Fleet;
  readonly postgres: PostgresPair;
  readonly chain: PostingChain;
  readonly upstream: Upstream;
}

/** Something that goes wrong, until it has passed. */
interface Trouble {
  readonly what: string;
  pass(): Promise<unknown>;
}

type Draw = (parts: Parts, random: Random) => Trouble;

const LONGEST_MS = 8_000;
const some = (random: Random): number => 500 + random.below(LONGEST_MS);

const PROVIDER_FAULTS: readonly Fault[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 429, retryAfter: '1' },
  { kind: 'status', status: 404 },
  { kind: 'reset' },
  { kind: 'silence' },
  { kind: 'cut', after: 1 },
  { kind: 'stall', after: 1 },
  { kind: 'garbage', after: 1 },
];

const DRAWS: readonly Draw[] = [
  ({ fleet }, random) => {
    const index = random.below(fleet.size);
    return { what: `process ${index} is killed`, pass: () => fleet.end(index, 'SIGKILL') };
  },
  ({ fleet }, random) => {
    const index = random.below(fleet.size);
    return { what: `process ${index} is told to end`, pass: () => fleet.end(index, 'SIGTERM') };
  },
  ({ fleet }, random) => {
    const [index, ms] = [random.below(fleet.size), some(random)];
    return { what: `process ${index} stands still for ${ms} ms`, pass: () => fleet.freeze(index, ms) };
  },
  ({ fleet }, random) => {
    const [index, ms] = [random.below(fleet.size), some(random)];
    return {
      what: `process ${index} is cut off from the database for ${ms} ms`,
      pass: () => fleet.cutOff(index, ms),
    };
  },
  ({ postgres }, random) => {
    const ms = some(random);
    return {
      what: `the database stands still for ${ms} ms`,
      pass: () => postgres.freeze(ms),
    };
  },
  ({ postgres }) => ({
    what: 'the database is killed, and started again',
    pass: () => postgres.restart('primary'),
  }),
  ({ postgres }) => ({
    what: 'the standby of the database is killed, and started again',
    pass: () => postgres.restart('standby'),
  }),
  ({ postgres }) => ({
    what: 'the database is killed, its standby takes its place, and gets a standby itself',
    pass: () => postgres.failOver(),
  }),
  ({ chain }, random) => {
    const ms = some(random);
    const fate = random.pick(['refuse', 'lose'] as const);
    return {
      what: `the chain’s node ${fate === 'refuse' ? 'is away' : 'takes requests and does not answer'} for ${ms} ms`,
      async pass() {
        chain.decide = () => fate;
        await setTimeout(ms);
        chain.decide = () => 'pass';
      },
    };
  },
  ({ upstream }, random) => {
    const ms = some(random);
    const fault = random.pick(PROVIDER_FAULTS);
    return {
      what: `the provider fails (${fault.kind}) for ${ms} ms`,
      async pass() {
        upstream.always({ fault });
        await setTimeout(ms);
        upstream.always({});
      },
    };
  },
];

/**
 * Breaks one part after the other, and sometimes two at once, until the time is over; resolves when everything has passed.
 * The random numbers alone decide what and how long.
 */
export async function breakThings(
  parts: Parts,
  random: Random,
  { until, tell }: { readonly until: number; readonly tell: (what: string) => void },
): Promise<number> {
  let count = 0;
  while (performance.now() < until) {
    const first = random.pick(DRAWS);
    const second = random.below(4) === 0 ? random.pick(DRAWS.filter((one) => one !== first)) : null;
    const troubles = [first, ...(second === null ? [] : [second])].map((draw) => draw(parts, random));
    const pause = random.below(2_000);
    tell(troubles.map(({ what }) => what).join('; meanwhile '));
    await Promise.all(troubles.map((trouble) => trouble.pass()));
    count += troubles.length;
    await setTimeout(pause);
  }
  return count;
}
