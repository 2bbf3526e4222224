import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { devAccount } from '../../chain/src/token/dev-accounts.ts';
import { DEV_USDC } from '../../chain/src/token/dev-token.ts';
import { openTokenChain, type TokenChain } from '../../chain/src/token/token.ts';
import { paidPosting, requestPosting } from '../../payments/src/payouts/postings.ts';
import { chainAccount, openingId, ownId } from '../../payments/src/treasury/accounts.ts';
import {
  type Reconciliation,
  reconcile,
  requireKnownPayments,
} from '../../payments/src/treasury/reconcile.ts';
import { type PayoutRow, type TreasuryStore, UNPAID } from '../../payments/src/treasury-store.ts';
import { openSqliteStore } from '../../store/src/sqlite.ts';
import type { Store } from '../../store/src/store.ts';
import { NETWORK, startTreasuryChain, type TreasuryChain } from './treasury.ts';
import { sendUsdc } from './usdc.ts';

const RUNS = 20;
const CONFIRMATIONS = 3;
const AT = 1_800_000_000;
/** The second is watched only where a history says so. */
const TREASURIES = ['treasury', 'facilitator'] as const;
const addressOf = (index: number): string =>
  devAccount(TREASURIES[index] ?? 'treasury').address.toLowerCase();
const BOB = devAccount('bob').address.toLowerCase();
const CALLER = 'caller:did:web:agent.example';

const folder = mkdtempSync(join(tmpdir(), 'tally-marks-'));
let files = 0;
const newFile = (): string => {
  files += 1;
  return join(folder, `${files}.db`);
};

let chain: TreasuryChain;
let token: TokenChain;
let books: Books | undefined;

beforeAll(async () => {
  chain = await startTreasuryChain();
  for (const name of TREASURIES)
    await chain.token.give(chain.token.accounts[name], { usdc: 1_000_000n, wei: 10n ** 19n });
  token = openTokenChain({
    rpcUrl: chain.anvil.rpcUrl,
    chainId: 31_337,
    usdc: DEV_USDC,
    confirmations: CONFIRMATIONS,
    timeoutMs: 60_000,
  });
  await chain.anvil.rpc('evm_setAutomine', false);
});
afterEach(async () => {
  await books?.store.close();
  books = undefined;
});
afterAll(async () => {
  await chain.anvil.stop();
  rmSync(folder, { recursive: true });
});

interface Sent {
  readonly txHash: string;
  /** Base units into the treasury. */
  readonly amount: bigint;
}

/** Books that begin at the head of the chain, and what was sent since. Blocks are mined by `mine` alone. */
class Books {
  store: Store;
  readonly #start: number;
  readonly #sent: Sent[] = [];
  #backup: string | null = null;
  #ids = 0;

  private constructor(store: Store, start: number) {
    this.store = store;
    this.#start = start;
  }

  static async open(): Promise<Books> {
    await chain.anvil.rpc('anvil_dropAllTransactions');
    await chain.mine(1);
    const { number } = await token.head();
    const opened = new Books(await openSqliteStore(newFile()), number);
    await opened.watch(0, 0);
    return opened;
  }

  get dependencies() {
    return { store: this.store, token, treasury: addressOf(0) };
  }

  /** Watches an address from some blocks before the head on. */
  async watch(index: number, back: number): Promise<void> {
    const { number: head } = await token.head();
    const block = await token.block(Math.max(this.#start, head - back));
    if (block === null) throw new Error('The block is missing.');
    const treasury = addressOf(index);
    const held = await token.balanceOf(treasury, block.number);
    const to = { height: block.number, blockHash: block.hash };
    const opening = held === 0n ? null : this.#posting(openingId(NETWORK, treasury), held);
    await this.store.treasury.record({ network: NETWORK, treasury }, [], { from: null, to }, opening);
  }

  async send(
    from: 'alice' | (typeof TREASURIES)[number],
    to: string,
    amount: bigint,
  ): Promise<string | null> {
    const { address } = devAccount(from);
    const nonce = Number(await chain.anvil.rpc('eth_getTransactionCount', address, 'pending'));
    const isIn = from === 'alice';
    // After a reorganisation what waits in the node may have the nonce: then nothing is sent.
    const txHash = await sendUsdc(chain.anvil.rpcUrl, from, { to, amount, nonce, mined: false }).catch(
      () => null,
    );
    if (txHash !== null) this.#sent.push({ txHash, amount: isIn ? amount : -amount });
    return txHash;
  }

  /** Posts a transfer that was sent, whether it is in the chain or not. */
  async post(nth: number, { amount, ordinal }: { amount: bigint; ordinal: number }): Promise<void> {
    const sent = this.#sent.at(nth % Math.max(1, this.#sent.length));
    if (sent === undefined) return;
    const id =
      sent.amount > 0n ? `transfer:${NETWORK}:${sent.txHash}:${ordinal}` : ownId(NETWORK, sent.txHash);
    await this.store.ledger.post(this.#posting(id, sent.amount + amount));
  }

  async invent(amount: bigint, isOfTransfer: boolean): Promise<void> {
    this.#ids += 1;
    const id = isOfTransfer ? `transfer:${NETWORK}:0x${this.#ids}:0` : `invented ${this.#ids}`;
    await this.store.ledger.post(this.#posting(id, amount));
  }

  /** Signs a payout, and sends it. */
  async pay(amount: bigint): Promise<void> {
    const txHash = await this.send('treasury', BOB, amount);
    if (txHash === null) return;
    const { treasury, ledger } = this.store;
    this.#ids += 1;
    const payout: PayoutRow = {
      id: `wd_${txHash}`,
      kind: 'withdrawal',
      state: 'waiting',
      network: NETWORK,
      account: CALLER,
      address: BOB,
      amount,
      reason: null,
      transfer: null,
      createdAt: AT,
      ...UNPAID,
    };
    const entries = [
      { account: 'external', amount: -amount * 1_000n },
      { account: CALLER, amount: amount * 1_000n },
    ];
    await ledger.post({ id: `credit ${txHash}`, memo: '', at: AT, entries });
    await treasury.requestPayout(payout, requestPosting(payout, AT));
    const fees = { maxFeePerGas: '1', maxPriorityFeePerGas: '1', raw: '0x', createdAt: AT };
    await treasury.startPayout({ payout: payout.id, sender: '0x', nonce: this.#ids, txHash, ...fees });
  }

  /** Ends a payout that is under way, as paid or as one that waits again. */
  async end(nth: number, isPaid: boolean): Promise<void> {
    const { treasury } = this.store;
    const underWay = await treasury.payoutsUnderWay(NETWORK);
    const payout = underWay.at(nth % Math.max(1, underWay.length));
    if (payout === undefined) return;
    if (!isPaid) {
      await treasury.reopenPayout(payout.id, 'lost');
      return;
    }
    const [attempt] = await treasury.payoutAttempts(payout.id);
    const ended = { id: payout.id, txHash: attempt?.txHash ?? null, height: 1, note: null };
    await treasury.endPayout(ended, { from: 'paying', to: 'paid', at: AT }, paidPosting(payout, AT));
  }

  /** Replaces the newest blocks since the books began with empty ones. */
  async reorganise(depth: number): Promise<void> {
    const { number } = await token.head();
    const most = Math.min(depth, number - this.#start);
    if (most > 0) await chain.anvil.rpc('anvil_reorg', most, []);
  }

  async backUp(): Promise<void> {
    this.#backup = newFile();
    await this.store.backup(this.#backup);
  }

  async restore(): Promise<void> {
    if (this.#backup === null) return;
    await this.store.close();
    const file = newFile();
    copyFileSync(this.#backup, file);
    this.store = await openSqliteStore(file);
  }

  #posting(id: string, amount: bigint) {
    const entries = [
      { account: chainAccount(NETWORK), amount: -amount * 1_000n },
      { account: 'owner', amount: amount * 1_000n },
    ];
    return { id, memo: '', at: AT, entries };
  }
}

/** A store that neither shows nor takes a mark. */
function withoutMark({ ledger, treasury }: Store): Pick<Store, 'ledger' | 'treasury'> {
  const unmarked: Partial<TreasuryStore> = {
    cursors: (network) => treasury.cursors(network),
    payout: (id) => treasury.payout(id),
    payoutsUnderWay: (network) => treasury.payoutsUnderWay(network),
    payoutAttempts: (id) => treasury.payoutAttempts(id),
    mark: async () => null,
    putMark: async () => {},
  };
  return { ledger, treasury: unmarked as TreasuryStore };
}

const readWhole = (of: Books): Promise<Reconciliation> =>
  reconcile({ ...of.dependencies, store: withoutMark(of.store) }, { all: true });

/** A report without the block it was read from, and with lists in one order. */
function unordered(report: Reconciliation): Reconciliation {
  const name = ({ kind, txHash, posting }: Reconciliation['differences'][number]) =>
    `${kind} ${txHash} ${posting}`;
  return {
    ...report,
    since: null,
    unknownPayments: report.unknownPayments.toSorted(),
    differences: report.differences.toSorted((a, b) => (name(a) < name(b) ? -1 : 1)),
  };
}

const lacksPayment = ({ differences, unknownPayments }: Reconciliation): boolean =>
  unknownPayments.length > 0 ||
  differences.some(({ kind, onChain }) => kind === 'unposted_transfer' && onChain < 0n);

const isRefused = (of: Books): Promise<boolean> =>
  requireKnownPayments(of.dependencies).then(
    () => false,
    (error: { code?: string }) => {
      expect(error).toMatchObject({ code: 'unavailable' });
      return true;
    },
  );

type Step = readonly [name: string, run: (books: Books) => Promise<unknown>];

const amount = fc.bigInt({ min: 1n, max: 9n });
const nth = fc.nat({ max: 30 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat({ max: 1 }), amount)
      .map(([to, of]): Step => [`alice pays ${of} to ${to}`, (one) => one.send('alice', addressOf(to), of)]),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...TREASURIES), amount)
      .map(([from, of]): Step => [`${from} pays ${of} by hand`, (one) => one.send(from, BOB, of)]),
  },
  {
    weight: 1,
    arbitrary: amount.map(
      (of): Step => [
        `the treasury moves ${of} to the other`,
        (one) => one.send('treasury', addressOf(1), of),
      ],
    ),
  },
  { weight: 3, arbitrary: amount.map((of): Step => [`pay out ${of}`, (one) => one.pay(of)]) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(nth, fc.boolean())
      .map(([at, isPaid]): Step => [`end payout ${at}: ${isPaid}`, (one) => one.end(at, isPaid)]),
  },
  {
    weight: 8,
    arbitrary: nth.map((at): Step => [`post ${at}`, (one) => one.post(at, { amount: 0n, ordinal: 0 })]),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(nth, fc.nat({ max: 1 }))
      .map(
        ([at, ordinal]): Step => [
          `post ${at} wrongly, as ${ordinal}`,
          (one) => one.post(at, { amount: 1n, ordinal }),
        ],
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(amount, fc.boolean())
      .map(([of, isOf]): Step => [`invent ${of} ${isOf}`, (one) => one.invent(of, isOf)]),
  },
  {
    weight: 8,
    arbitrary: fc
      .integer({ min: 1, max: 3 })
      .map((blocks): Step => [`mine ${blocks}`, () => chain.mine(blocks)]),
  },
  {
    weight: 2,
    arbitrary: fc
      .integer({ min: 1, max: 8 })
      .map((depth): Step => [`reorganise ${depth}`, (one) => one.reorganise(depth)]),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat({ max: 9 })
      .map((back): Step => [`watch the other from ${back} back`, (one) => one.watch(1, back)]),
  },
  { weight: 1, arbitrary: fc.constant<Step>(['back up', (one) => one.backUp()]) },
  { weight: 1, arbitrary: fc.constant<Step>(['restore', (one) => one.restore()]) },
  { weight: 6, arbitrary: fc.constant<Step>(['compare', (one) => compare(one)]) },
);
const history = fc
  .array(step, { minLength: 20, maxLength: 60 })
  .map((steps) => ({ steps, toString: () => steps.map(([name]) => name).join('; ') }));

/** How often a mark was gone on from, and how often there was one that did not fit. */
const seen = { used: 0, unfit: 0, refused: 0 };

async function compare(one: Books): Promise<void> {
  const whole = await readWhole(one);
  const mark = await one.store.treasury.mark(NETWORK);
  const found = await reconcile(one.dependencies);
  expect(unordered(found)).toEqual(unordered(whole));
  expect(await isRefused(one)).toBe(lacksPayment(whole));
  if (found.since !== null) seen.used += 1;
  else if (mark !== null) seen.unfit += 1;
  if (lacksPayment(whole)) seen.refused += 1;
}

describe('a comparison from a mark', () => {
  it('finds what reading everything finds, and refuses the same payouts, in any history', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ steps }) => {
        const one = await Books.open();
        try {
          for (const [, run] of steps) await run(one);
          await compare(one);
        } finally {
          await one.store.close();
        }
      }),
      { numRuns: RUNS },
    );
    expect(seen.used).toBeGreaterThan(RUNS);
    expect(seen.unfit).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });
});

describe('a mark', () => {
  const opened = async (): Promise<Books> => {
    books = await Books.open();
    return books;
  };
  /** Pays the treasury and posts it, so that the transfer is confirmed. */
  const payIn = async (to: Books): Promise<void> => {
    await to.send('alice', addressOf(0), 5n);
    await chain.mine(CONFIRMATIONS);
    await to.post(-1, { amount: 0n, ordinal: 0 });
  };

  it('spares the blocks and lines before it', async () => {
    const one = await opened();
    await payIn(one);
    const first = await reconcile(one.dependencies);
    expect(first).toMatchObject({ since: null, transfers: 1, postings: 2, differences: [] });
    const ranges: number[] = [];
    const watching: TokenChain = {
      ...token,
      transfers: (query) => {
        ranges.push(query.fromBlock);
        return token.transfers(query);
      },
    };
    const statement = vi.spyOn(one.store.ledger, 'statement');
    await chain.mine(1);
    const second = await reconcile({ ...one.dependencies, token: watching });
    const since = first.block - CONFIRMATIONS + 1;
    expect(second).toEqual({ ...first, since, block: first.block + 1 });
    expect(Math.min(...ranges)).toBe(since + 1);
    // The last line of the mark is looked up.
    expect(statement.mock.calls.map(([, { after }]) => after)).toEqual([1, 2]);
    expect((await reconcile(one.dependencies, { all: true })).since).toBeNull();
  });

  it('is not written where the node leaves out a transfer, so that the payment is found once it is shown', async () => {
    const one = await opened();
    await payIn(one);
    await one.send('treasury', BOB, 2n);
    await chain.mine(CONFIRMATIONS);
    const forgetful: TokenChain = {
      ...token,
      async *transfers(query) {
        for await (const transfer of token.transfers(query)) if (transfer.to !== BOB) yield transfer;
      },
    };
    const found = await reconcile({ ...one.dependencies, token: forgetful });
    expect(found).toMatchObject({ differences: [{ kind: 'balance_differs' }] });
    expect(await one.store.treasury.mark(NETWORK)).toBeNull();
    expect(await isRefused(one)).toBe(true);
  });

  it('is not gone on from where a reorganisation goes on while the chain is read', async () => {
    const one = await opened();
    await payIn(one);
    const unsteady: TokenChain = {
      ...token,
      async *transfers(query) {
        yield* token.transfers(query);
        await one.reorganise(CONFIRMATIONS + 1);
      },
    };
    await expect(reconcile({ ...one.dependencies, token: unsteady })).rejects.toMatchObject({
      code: 'chain_unavailable',
    });
    expect(await one.store.treasury.mark(NETWORK)).toBeNull();
  });

  it('of other books, another token, other addresses or another release is not gone on from', async () => {
    const one = await opened();
    await one.backUp();
    await one.send('alice', addressOf(1), 6n);
    await payIn(one);
    await reconcile(one.dependencies);
    const mark = await one.store.treasury.mark(NETWORK);
    if (mark === null) throw new Error('There is no mark.');
    const other = { ...token, usdc: devAccount('bob').address };
    expect((await reconcile({ ...one.dependencies, token: other })).since).toBeNull();
    await one.store.treasury.putMark(NETWORK, { ...mark, state: '{"left":[]}' });
    expect((await reconcile(one.dependencies)).since).toBeNull();
    expect((await reconcile(one.dependencies)).since).toBe(mark.height);
    await one.watch(1, CONFIRMATIONS);
    expect(await reconcile(one.dependencies)).toMatchObject({
      since: null,
      differences: [{ kind: 'unposted_transfer', onChain: 6n }],
    });
    await one.restore();
    await one.store.treasury.putMark(NETWORK, mark);
    expect(await reconcile(one.dependencies)).toMatchObject({
      since: null,
      differences: [{ kind: 'unposted_transfer', onChain: 5n }],
    });
  });

  it('of restored books lets no payment pass that they have lost', async () => {
    const one = await opened();
    await payIn(one);
    await reconcile(one.dependencies);
    await one.backUp();
    await one.pay(3n);
    await chain.mine(CONFIRMATIONS);
    await one.end(0, true);
    expect(await isRefused(one)).toBe(false);
    await one.restore();
    expect(await isRefused(one)).toBe(true);
    expect(await reconcile(one.dependencies)).toMatchObject({
      since: expect.any(Number),
      differences: [{ kind: 'unposted_transfer', onChain: -3n, inLedger: 0n }],
    });
  });
});

describe('what is posted while the chain is read', () => {
  it('for a block after the head is left to the next comparison', async () => {
    books = await Books.open();
    const one = books;
    const busy: TokenChain = {
      ...token,
      async head() {
        const head = await token.head();
        await one.send('alice', addressOf(0), 5n);
        await chain.mine(CONFIRMATIONS);
        await one.post(0, { amount: 0n, ordinal: 0 });
        await one.invent(7n, false);
        return head;
      },
    };
    const before = await token.balanceOf(addressOf(0));
    const found = await reconcile({ ...one.dependencies, token: busy });
    expect(found).toMatchObject({
      onChain: before,
      inLedger: before,
      postings: 1,
      transfers: 0,
      differences: [],
    });
    expect(await reconcile(one.dependencies)).toMatchObject({
      since: expect.any(Number),
      postings: 3,
      transfers: 1,
      differences: [{ kind: 'posting_without_transfer', posting: 'invented 1', inLedger: 7n }],
    });
  });
});
