import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CACHE_MINIMUM, CACHE_STEP, cacheGate } from '../../inference/src/compression/cache-gate.ts';
import { cachePriceOf } from '../../inference/src/compression/cache-price.ts';
import { isCutAt, type SentMessages, sentNow } from '../../inference/src/compression/conversations.ts';
import type { RequestTier } from '../../inference/src/compression/options.ts';
import { savingOf } from '../../inference/src/savings.ts';
import { costOf, priceCall, type Tariffs, tariffFor } from '../../inference/src/token-prices.ts';
import type { Usage } from '../../inference/src/types.ts';

/** A message as it came, in its lossless form and cut, in tokens. */
interface Message {
  readonly plain: number;
  readonly lossless: number;
  readonly cut: number;
}

const messageUpTo = (max: number): fc.Arbitrary<Message> =>
  fc.tuple(fc.integer({ min: 1, max }), fc.nat(100), fc.nat(100)).map(([plain, lossless, cut]) => {
    const written = Math.ceil((plain * lossless) / 100) || 1;
    return { plain, lossless: written, cut: Math.ceil((written * cut) / 100) || 1 };
  });
const message = fc.oneof(messageUpTo(4_000), messageUpTo(400));

interface Step {
  /** What comes new with a call: nothing, where it is made again as it was. */
  readonly messages: readonly Message[];
  readonly tier: RequestTier;
  /** The provider has kept the prompts of so large a share of the calls before, and none after them. */
  readonly kept: number;
  readonly completionTokens: number;
}

const stepOf = (least: number, tiers: readonly RequestTier[]): fc.Arbitrary<Step> =>
  fc.record({
    messages: fc.array(message, { minLength: least, maxLength: 4 }),
    tier: fc.constantFrom(...tiers),
    kept: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
    completionTokens: fc.nat(500),
  });

/** How a provider keeps prompts. */
interface Cache {
  readonly least: number;
  readonly step: number;
  /** Whether writing is counted. */
  readonly writes: boolean;
}

interface Setting {
  readonly price: Tariffs;
  readonly cache: Cache;
  /** Tokens that stand before the messages, such as tools. */
  readonly beside: number;
  readonly percent: number;
  readonly member: string | null;
  /** What the provider counts for a token that is counted here; null where it counts the same. */
  readonly scale: number | null;
}

const rate = fc.bigInt(0n, 10_000_000_000n);
const anyPrice = fc.record({
  inputPerMTok: rate,
  outputPerMTok: rate,
  cacheReadPerMTok: rate,
  cacheWritePerMTok: rate,
});

const known = fc.constant(null);
const unknown = fc.double({ min: 0.75, max: 4 / 3, noNaN: true });

const settingOf = (
  priced: fc.Arbitrary<Pick<Setting, 'price' | 'cache'>>,
  scale: fc.Arbitrary<number | null>,
): fc.Arbitrary<Setting> =>
  fc
    .tuple(
      priced,
      fc.record({
        beside: fc.nat(3_000),
        percent: fc.constantFrom(25, 35, 40, 50),
        member: fc.constantFrom(null, 'did:web:a.example'),
        scale,
      }),
    )
    .chain(([one, other]) => withTariff(one.price).map((price) => ({ ...one, ...other, price })));

/** The same prices, or in every second setting more of them for prompts above some length, as several providers have. */
const withTariff = (price: Tariffs): fc.Arbitrary<Tariffs> =>
  fc.oneof(
    fc.constant(price),
    fc.tuple(fc.nat(20_000), fc.bigInt(100n, 500n)).map(([aboveTokens, percent]) => {
      const times = (amount: bigint): bigint => (amount * percent) / 100n;
      const { inputPerMTok, outputPerMTok, cacheReadPerMTok, cacheWritePerMTok } = price;
      const above = {
        aboveTokens,
        inputPerMTok: times(inputPerMTok),
        outputPerMTok: times(outputPerMTok),
        cacheReadPerMTok: times(cacheReadPerMTok),
        cacheWritePerMTok: times(cacheWritePerMTok),
      };
      return { ...price, tariffs: [above] };
    }),
  );

const tokenByToken = settingOf(
  fc.record({
    price: anyPrice,
    cache: fc.record({ least: fc.constant(1), step: fc.constant(1), writes: fc.boolean() }),
  }),
  known,
);
/** Reading is cheaper than sending, and writing is not. */
const behindBreakpoints = settingOf(
  anyPrice.map((price) => {
    const { cacheReadPerMTok: read, inputPerMTok: input, cacheWritePerMTok: write } = price;
    return {
      price: { ...price, inputPerMTok: read + input, cacheWritePerMTok: read + input + write },
      cache: { least: 1, step: 1, writes: true },
    };
  }),
  fc.oneof(known, unknown),
);

/** Writing costs what sending does; reading, usual shares of that among others. */
const inSteps = settingOf(
  fc.record({
    price: fc
      .tuple(anyPrice, fc.oneof(fc.constantFrom(0, 10, 25, 50), fc.integer({ min: 0, max: 100 })))
      .map(([price, percent]) => ({
        ...price,
        cacheReadPerMTok: (price.inputPerMTok * BigInt(percent)) / 100n,
        cacheWritePerMTok: price.inputPerMTok,
      })),
    cache: fc.record({
      least: fc.constant(CACHE_MINIMUM),
      step: fc.constantFrom(CACHE_STEP, CACHE_STEP / 2),
      writes: fc.constant(false),
    }),
  }),
  fc.oneof(known, unknown),
);

interface Played {
  readonly charge: bigint;
  readonly share: bigint;
  readonly cost: bigint;
  /** The same call with nothing compressed, in dust. */
  readonly uncompressed: bigint;
  /** Tokens of each message, as sent. */
  readonly after: readonly number[];
}

/** A session as the service sends and bills it, beside the same one uncompressed at the same provider. */
function play(steps: readonly Step[], { price, cache, beside, percent, member, scale }: Setting): Played[] {
  const all: Message[] = [];
  const ends: number[] = [];
  const cachePrice = cachePriceOf(
    [{ price, tokenizer: scale === null ? 'o200k' : 'estimate' }],
    'o200k_base',
  );
  let before: SentMessages | null = null;
  let dust = 0n;
  let tier: RequestTier = 'lossless';
  return steps.map(({ messages, tier: wanted, kept, completionTokens }) => {
    if (messages.length > 0) tier = wanted;
    const hit = ends[Math.ceil(kept * ends.length) - 1] ?? 0;
    // A call that is made again has no answer behind what went before.
    const sent = messages.length === 0 ? (ends.findLast((end) => end < all.length) ?? 0) : all.length;
    all.push(...messages);
    ends.push(all.length);
    const form = sentNow(tier, before, sent);
    before = form;
    const plain = all.map((one) => one.plain);
    const savings = new Map(
      all.flatMap((one, index) => {
        const saved = one.plain - (isCutAt(form.switches, index) ? one.cut : one.lossless);
        return index >= form.plain && saved > 0 ? [[index, saved] as const] : [];
      }),
    );
    // What comes new with a call are the results of one turn's tools.
    const until = all.map((_, index) => (ends.find((end) => end > index) ?? 1) - 1);
    const shorter =
      cachePrice === null
        ? new Set(savings.keys())
        : cacheGate(cachePrice, { before: plain, until, free: form.fitted }, savings);
    const after = plain.map((tokens, index) =>
      shorter.has(index) ? tokens - (savings.get(index) ?? 0) : tokens,
    );
    const used = (tokens: readonly number[]): Usage => {
      const counted = (end: number): number => Math.round(sum(tokens.slice(0, end)) * (scale ?? 1)) + beside;
      const promptTokens = counted(all.length);
      const held = hit === 0 ? 0 : counted(hit);
      const cachedTokens = held < cache.least ? 0 : Math.floor(held / cache.step) * cache.step;
      const written = cache.writes ? { cacheWriteTokens: promptTokens - cachedTokens } : {};
      return { promptTokens, cachedTokens, completionTokens, estimated: false, ...written };
    };
    const usage = used(after);
    const { gross, lostCache: lost } = savingOf(
      tariffFor(price, usage),
      usage,
      { before: plain, after, sent, changed: false },
      scale === null,
    );
    const bill = priceCall({ price, rounds: [usage], gross, lost, sharePercent: percent, member, dust });
    ({ dust } = bill);
    const { charge, share, cost } = bill;
    return { charge, share, cost, after, uncompressed: costOf(price, used(plain)) };
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
const add = (numbers: readonly bigint[]): bigint => numbers.reduce((a, b) => a + b, 0n);
const paidFor = (calls: readonly Played[]): bigint => add(calls.map(({ charge, share }) => charge - share));

/** Wherever the session ends. */
function expectNeverDearer(calls: readonly Played[]): void {
  let paid = 0n;
  let uncompressed = 0n;
  for (const call of calls) {
    paid += call.charge - call.share;
    uncompressed += call.uncompressed;
    expect(paid * 1_000_000n).toBeLessThanOrEqual(uncompressed);
  }
}

function expectSameBeginnings(calls: readonly Played[]): void {
  for (const [index, { after }] of calls.entries())
    expect(calls[index + 1]?.after.slice(0, after.length) ?? after).toEqual(after);
}

const off = fc.array(stepOf(1, ['off']), { maxLength: 2 });
const on = fc.array(stepOf(0, ['lossless', 'extractive']), { minLength: 1, maxLength: 12 });
const session = fc.tuple(off, on).map(([first, then]) => [...first, ...then]);
const small = fc.array(
  fc.record({
    messages: fc.array(messageUpTo(400), { minLength: 1, maxLength: 2 }),
    tier: fc.constant<RequestTier>('lossless'),
    kept: fc.constant(1),
    completionTokens: fc.constant(20),
  }),
  { minLength: 2, maxLength: 30 },
);

describe('over random sessions, prices and caches', () => {
  it.each([
    ['token by token', session, tokenByToken],
    ['behind breakpoints', session, behindBreakpoints],
    ['in steps of 128 tokens from 1,024 on', session, inSteps],
    ['in such steps, of many small messages', small, inSteps],
  ])('no session is dearer than uncompressed at a provider that caches %s', (_, steps, how) => {
    fc.assert(
      fc.property(steps, how, (steps, how) => {
        const calls = play(steps, how);
        expectNeverDearer(calls);
        expectSameBeginnings(calls);
      }),
      { numRuns: 5_000 },
    );
  });

  it('little is held back where what tools answer is large', () => {
    const result = fc
      .tuple(fc.integer({ min: 1_000, max: 4_000 }), fc.integer({ min: 35, max: 70 }))
      .map(([plain, percent]): Step => {
        const lossless = Math.ceil((plain * percent) / 100);
        return {
          messages: [{ plain, lossless, cut: lossless }],
          tier: 'lossless',
          kept: 1,
          completionTokens: 20,
        };
      });
    const agents = fc.sample(fc.array(result, { minLength: 10, maxLength: 10 }), { numRuns: 1_000, seed: 7 });
    const price = { inputPerMTok: 10n, outputPerMTok: 80n, cacheReadPerMTok: 1n, cacheWritePerMTok: 10n };
    const cache = { least: CACHE_MINIMUM, step: CACHE_STEP, writes: false };
    let saved = 0;
    let possible = 0;
    for (const agent of agents) {
      const after =
        play(agent, { price, cache, beside: 400, percent: 25, member: null, scale: null }).at(-1)?.after ??
        [];
      const all = agent.flatMap(({ messages }) => messages);
      saved += sum(all.map(({ plain }, index) => plain - (after[index] ?? 0)));
      possible += sum(all.map(({ plain, lossless }) => plain - lossless));
    }
    // Measured: 96%.
    expect(saved / possible).toBeGreaterThan(0.9);
  });

  it('the provider is paid in each call, whatever its cache and the tiers do', () => {
    const any = fc.record({
      least: fc.constantFrom(1, CACHE_MINIMUM),
      step: fc.constantFrom(1, CACHE_STEP),
      writes: fc.boolean(),
    });
    const steps = fc.array(stepOf(0, ['off', 'lossless', 'extractive']), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(steps, fc.oneof(tokenByToken, inSteps), any, (steps, how, cache) => {
        for (const { charge, share, cost } of play(steps, { ...how, cache }))
          expect(charge - share).toBeGreaterThanOrEqual(cost);
      }),
      { numRuns: 2_000 },
    );
  });

  it('padding a prompt never pays', () => {
    const padding = fc.array(message, { minLength: 1, maxLength: 4 });
    const steps = fc.array(stepOf(1, ['lossless', 'extractive']), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(steps, tokenByToken, padding, (steps, how, padding) => {
        const cold = steps.map((one) => ({ ...one, kept: 0 }));
        const padded = cold.map((one) => ({ ...one, messages: [...one.messages, ...padding] }));
        const unwritten = { ...how, cache: { ...how.cache, writes: false } };
        const paid = (all: readonly Step[]): bigint => paidFor(play(all, unwritten));
        expect(paid(padded) + BigInt(steps.length)).toBeGreaterThanOrEqual(paid(cold));
      }),
      { numRuns: 2_000 },
    );
  });
});
