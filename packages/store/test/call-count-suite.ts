import type { CallCounting, CallFilters, CallSums, NewCall } from '@tallystick/inference';
import { bandOf } from '@tallystick/inference/rows';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { newCall } from './call-fixtures.ts';
import { ACCOUNT } from './ledger-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const OTHER = 'caller:did:key:other';
/** Unix milliseconds of an hour's beginning, and the hours that calls are spread over. */
const START = 1_800_000_000_000;
const HOURS = 5;

/** Every hour has calls of each kind; the groups share costs, tags and latencies. */
function calls(): NewCall[] {
  return times(300, (at) => {
    const failed = at % 7 === 3;
    const status = failed && at % 2 === 0 ? 503 : 200;
    return newCall(START + Math.floor((at * HOURS * 3_600_000) / 300), {
      id: `c${String(at).padStart(3, '0')}`,
      owner: at % 11 === 0 ? OTHER : ACCOUNT,
      model: at % 13 === 0 ? null : `openai/${at % 3}`,
      provider: at % 13 === 0 ? null : 'openai',
      key: at % 5 === 0 ? null : `key_${at % 2}`,
      did: at % 5 === 0 ? 'did:web:a' : null,
      session: at % 17 === 0 ? 's' : null,
      requestHash: at % 19 === 0 ? 'ab' : null,
      tags: at % 4 === 0 ? '{"team":"a"}' : null,
      status,
      errorCode: failed ? 'provider_failed' : null,
      receiptId: status === 200 ? 'r' : null,
      cost: BigInt(at % 23),
      saving: BigInt(at % 6),
      promptTokens: at % 13 === 0 ? null : at,
      totalMs: at % 29 === 0 ? null : Math.round(1.9 ** (at % 24)),
    });
  });
}

/** The sums of rows, one by one. */
function sumsOf(rows: readonly NewCall[], { span, by }: Pick<CallCounting, 'span' | 'by'>): CallSums[] {
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify([
      Math.floor(row.at / 1_000 / span) * span,
      by === 'none' ? '' : String(row[by] ?? ''),
      bandOf(row.totalMs),
    ]),
  );
  const sums = [...groups].map(([name, of]) => {
    const [at, group, band] = JSON.parse(name) as [number, string, number];
    return {
      at,
      by: group,
      band,
      calls: of.length,
      errors: of.filter(({ errorCode }) => errorCode !== null).length,
      promptTokens: of.reduce((sum, row) => sum + (row.promptTokens ?? 0), 0),
      completionTokens: of.reduce((sum, row) => sum + (row.completionTokens ?? 0), 0),
      cost: of.reduce((sum, row) => sum + row.cost, 0n),
      saving: of.reduce((sum, row) => sum + row.saving, 0n),
    };
  });
  return sums.toSorted((a, b) => b.at - a.at || (a.by < b.by ? -1 : Number(a.by > b.by)) || a.band - b.band);
}

const FILTERS: Readonly<Record<string, CallFilters>> = {
  none: {},
  id: { id: 'c004' },
  did: { did: 'did:web:a' },
  key: { key: 'key_1' },
  model: { model: 'openai/1' },
  provider: { provider: 'openai' },
  status: { status: 503 },
  ok: { status: 200, failed: false },
  'ok of a model': { status: 200, failed: false, model: 'openai/1' },
  'ok with a tag': { status: 200, failed: false, tag: 'team:a' },
  error: { failed: true },
  'a status that went wrong': { failed: true, status: 200 },
  errorCode: { errorCode: 'provider_failed' },
  minCost: { minCost: 20n },
  maxCost: { maxCost: 2n },
  'cost of a key': { minCost: 4n, maxCost: 9n, key: 'key_0' },
  tag: { tag: 'team:a' },
  'tag and model': { tag: 'team:a', model: 'openai/2' },
  session: { session: 's' },
  requestHash: { requestHash: 'ab' },
  billed: { billed: true },
  'a filter that nothing has': { tag: 'team:b' },
};

/** Filters that leave every call in and that only rows can answer. */
const ROWS: CallFilters = { maxCost: 2n ** 60n };

/** How calls are counted, to be kept by every adapter. */
export function callCountSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} counts calls`, () => {
    const { open, execute } = useDatabase(createDatabase);
    let store: Store;
    beforeEach(async () => {
      store = await open();
      await store.calls.put(calls());
    });

    const whole = { owner: ACCOUNT, span: 3_600, from: START / 1_000, to: START / 1_000 + HOURS * 3_600 };
    const listed = async (filters: CallFilters, owner: string): Promise<NewCall[]> => {
      const page = { owner, from: 0, before: { at: START * 2, id: '' }, limit: 1_000 };
      return (await store.calls.page({ ...page, ...filters })).map((row) => ({ ...row, detail: null }));
    };

    it.each(Object.entries(FILTERS))('that the list has, by %s', async (_, filters) => {
      for (const owner of [ACCOUNT, OTHER]) {
        const rows = await listed(filters, owner);
        for (const by of ['none', 'model', 'provider', 'status', 'key'] as const)
          for (const span of [60, 3_600, 86_400]) {
            const from = Math.floor(whole.from / span) * span;
            expect(await store.calls.counts({ ...whole, owner, from, span, by, ...filters })).toEqual({
              sums: sumsOf(rows, { span, by }),
              countedFrom: null,
            });
          }
      }
    });

    it('with the same sums from rows as from the roll-up', async () => {
      const oneOf = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: null });
      const counting = fc.record({
        model: oneOf('openai/0', 'openai/2', 'x'),
        provider: oneOf('openai'),
        status: oneOf(200, 503),
        key: oneOf('key_0', 'key_1'),
        by: fc.constantFrom(
          'none' as const,
          'model' as const,
          'provider' as const,
          'status' as const,
          'key' as const,
        ),
        span: fc.constantFrom(60, 3_600, 86_400),
        hours: fc.tuple(fc.nat(HOURS), fc.nat(HOURS)),
        seconds: fc.nat(3_599),
      });
      await fc.assert(
        fc.asyncProperty(counting, async ({ hours, seconds, span, ...rest }) => {
          const from = Math.floor((whole.from + hours[0] * 3_600) / span) * span;
          const to = whole.from + hours[1] * 3_600 + seconds;
          const asked = { ...rest, owner: ACCOUNT, span, from, to };
          expect(await store.calls.counts({ ...asked, ...ROWS })).toEqual(await store.calls.counts(asked));
        }),
        { numRuns: 60 },
      );
    });

    it('of which it reads the newest 200,000 rows, and says from when on, and lists them by parts', async () => {
      const first = START + 86_400_000;
      const billed = (await listed({ billed: true, maxCost: 1n }, ACCOUNT)).map(({ id }) => id);
      // Two calls a millisecond, but for 12,000 that ended together. The roll-up knows none of them.
      await execute(`
        insert into calls (id, owner, at, requested_model, model, stream, cost, saving, status, error_code)
        with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < 211999)
        select 'n' || n, '${ACCOUNT}', ${first} + case when n between 100000 and 111999 then 50000 else n / 2 end,
          'auto', 'x/' || (n % 2), 0, 1, 0, 200, case when n % 2 = 0 then 'e' end
        from numbers`);
      const day = { ...whole, span: 86_400, from: first / 1_000, to: first / 1_000 + 1, by: 'none' } as const;
      const found = async (filters: CallFilters) => {
        const { sums, countedFrom } = await store.calls.counts({ ...day, ...filters });
        const calls = sums.reduce((sum, one) => sum + one.calls, 0);
        return { calls, after: countedFrom === null ? null : countedFrom - first };
      };
      // Of 100 slices of 2,000, one ends before those that ended together, and the next one holds all of these.
      expect(await found({ minCost: 1n, failed: false })).toEqual({ calls: 105_000, after: 1_000 });
      // A page by cost is read by slices of at most 20,000, of which several end among those that ended together.
      const cheap = { owner: ACCOUNT, from: 0, limit: 33_333, maxCost: 1n };
      const place = { at: START * 2, id: '' };
      const farBack = await store.calls.page({ ...cheap, before: place, billed: true });
      expect(farBack.map(({ id }) => id)).toEqual(billed);
      const ids: string[] = [];
      for (let before = place, last = false; !last; ) {
        const rows = await store.calls.page({ ...cheap, before, failed: false });
        ids.push(...rows.map(({ id }) => id));
        before = rows.at(-1) ?? before;
        last = rows.length < cheap.limit;
      }
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.filter((id) => id.startsWith('n'))).toHaveLength(106_000);
      expect(await found({ failed: true })).toEqual({ calls: 106_000, after: null });
      expect(await found({ tag: 'none:such' })).toEqual({ calls: 0, after: null });
      const minutes = { ...day, span: 60, billed: false, to: first / 1_000 + 105 };
      const { sums } = await store.calls.counts(minutes);
      expect([...new Set(sums.map(({ at }) => at - day.from))]).toEqual([60, 0]);
    });
  });
}
