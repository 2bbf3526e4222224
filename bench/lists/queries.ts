import type { CallFilters } from '../../packages/inference/src/index.ts';
import type { ReceiptFilters } from '../../packages/receipts/src/index.ts';
import type { Store } from '../../packages/store/src/store.ts';
import { agentOf, beginOf, hashOf, idOf, RARE, runOf, type Shape, sessionOf } from './rows.ts';

/** Pages that are read for each query, from each place. */
const READS = 60;
/** A page of 50 and the row that shows whether there is another. */
const LIMIT = 51;

/** Times in milliseconds of reading a page by one query: the first one, and those that begin anywhere in the list. */
export interface Reading {
  readonly name: string;
  readonly first: readonly number[];
  readonly deep: readonly number[];
}

/** Makes the filters of a read, given a random row's number. */
type Filters<Of> = Readonly<Record<string, (index: number) => Partial<Of>>>;

const CALLS = (shape: Shape): Filters<CallFilters> => ({
  'no filter': () => ({}),
  did: (index) => ({ did: agentOf(index) }),
  key: () => ({ key: shape.key }),
  'another key': () => ({ key: 'key_0000000000000000' }),
  model: () => ({ model: 'openai/gpt-5-mini' }),
  'a rare model': () => ({ model: RARE.model }),
  provider: () => ({ provider: 'openai' }),
  'a rare provider': () => ({ provider: RARE.provider }),
  'status 200': () => ({ status: 200 }),
  'status 404': () => ({ status: 404 }),
  'status ok': () => ({ status: 200, failed: false }),
  'status error': () => ({ failed: true }),
  error_code: () => ({ errorCode: 'provider_failed' }),
  'a rare error_code': () => ({ errorCode: RARE.error }),
  'min_cost of 1 call in 2': () => ({ minCost: costAbove(0.5) }),
  'min_cost of 1 call in 100': () => ({ minCost: costAbove(0.01) }),
  'min_cost of 1 call in 1,000': () => ({ minCost: costAbove(0.001) }),
  'min_cost of 1 call in 10,000': () => ({ minCost: costAbove(0.0001) }),
  'max_cost of 0': () => ({ maxCost: 0n }),
  'max_cost of 1 call in 2': () => ({ maxCost: costAbove(0.5) }),
  'tag of every tenth call': () => ({ tag: 'team:search' }),
  'tag of a run': (index) => ({ tag: runOf(index) }),
  session: (index) => ({ session: sessionOf(index) }),
  receipt_id: (index) => ({ id: idOf(index, shape) }),
  request_hash: (index) => ({ requestHash: hashOf(index) }),
  profile: () => ({ billed: true }),
});

/** The cost, in nano-USDC, that this part of the calls is above. */
function costAbove(share: number): bigint {
  return BigInt(Math.floor(1_000 * Math.exp((1 - share) * 9)));
}

const NONE: ReceiptFilters = {
  id: null,
  requestHash: null,
  session: null,
  did: null,
  key: null,
  model: null,
  purpose: null,
  profile: null,
  provider: null,
  status: null,
  tag: null,
  minCost: null,
  maxCost: null,
};

const RECEIPTS = (shape: Shape): Filters<ReceiptFilters> => ({
  'no filter': () => ({}),
  did: (index) => ({ did: agentOf(index) }),
  key: () => ({ key: shape.key }),
  profile: () => ({ profile: 'standard' }),
  purpose: () => ({ purpose: 'inference' }),
  'a rare purpose': () => ({ purpose: RARE.purpose }),
  model: () => ({ model: 'openai/gpt-5-mini' }),
  'a rare model': () => ({ model: RARE.model }),
  provider: () => ({ provider: 'openai' }),
  'a rare provider': () => ({ provider: RARE.provider }),
  'status ok': () => ({ status: 'ok' }),
  'status error': () => ({ status: 'error' }),
  'min_cost of 1 call in 2': () => ({ minCost: costAbove(0.5) }),
  'min_cost of 1 call in 1,000': () => ({ minCost: costAbove(0.001) }),
  session: (index) => ({ session: sessionOf(index) }),
  receipt_id: (index) => ({ id: idOf(index, shape) }),
  request_hash: (index) => ({ requestHash: hashOf(index) }),
});

type Page = { readonly from: number; readonly before: { at: number; id: string }; readonly limit: number };

export function readCalls(store: Store, shape: Shape, reads = READS): Promise<Reading[]> {
  return readAll({ shape, reads }, CALLS(shape), (filters, page) =>
    store.calls.page({ ...filters, ...page, owner: shape.owner }),
  );
}

export function readReceipts(store: Store, shape: Shape, reads = READS): Promise<Reading[]> {
  const now = Math.floor(shape.until / 1_000);
  return readAll({ shape, reads }, RECEIPTS(shape), (filters, page) =>
    store.receiptList.page({ ...NONE, ...filters, ...page, owner: shape.owner, now }),
  );
}

/** Reads pages by each filter in turn, so that what else the machine does falls on all of them. */
async function readAll<Of>(
  { shape, reads }: { readonly shape: Shape; readonly reads: number },
  filters: Filters<Of>,
  read: (filters: Partial<Of>, page: Page) => Promise<readonly unknown[]>,
): Promise<Reading[]> {
  const readings = Object.keys(filters).map((name) => ({
    name,
    first: [] as number[],
    deep: [] as number[],
  }));
  const begin = beginOf(shape);
  for (let round = -2; round < reads; round += 1) {
    for (const { name, first, deep } of readings) {
      const index = Math.floor(Math.random() * shape.rows);
      const timed = async (before: number): Promise<number> => {
        const began = performance.now();
        await read(filters[name]?.(index) ?? {}, { from: 0, before: { at: before, id: '' }, limit: LIMIT });
        return performance.now() - began;
      };
      const whole = await timed(shape.until + 1);
      const part = await timed(begin + Math.floor(Math.random() * (shape.until - begin)));
      if (round < 0) continue;
      first.push(whole);
      deep.push(part);
    }
  }
  return readings;
}
