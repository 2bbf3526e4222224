import type { Block, TokenChain, TokenTransfer } from '@tallystick/chain/evm';
import { TallyError, toHex } from '@tallystick/core';
import type { LedgerPosting } from '@tallystick/ledger';
import type { Logger } from 'pino';
import type { Cursor, TransferRow, TreasuryCursor, TreasuryStore, Watched } from '../treasury-store.ts';
import { chainAccount, OWNER, openingId } from './accounts.ts';
import type { Decide } from './decide.ts';
import { toNanoUsdc } from './units.ts';

export interface WatcherOptions {
  readonly store: { readonly treasury: TreasuryStore };
  readonly token: Pick<
    TokenChain,
    'network' | 'confirmations' | 'head' | 'block' | 'transfers' | 'balanceOf'
  >;
  /** The address that receives payments. */
  readonly treasury: string;
  /** The first block to read if none was read yet; null for the newest. */
  readonly fromBlock: number | null;
  /** Tells whose a transfer is: `x402`, whose code posts it; not known yet (`wait`); or null, for the watcher to decide. */
  readonly ownerOf: (transfer: TransferRow) => Promise<'x402' | 'wait' | null>;
  readonly decide: Decide;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/**
 * Sees each confirmed transfer of USDC to the treasury, and ends it in one way, once. Only confirmed blocks are read,
 * so a transfer that a reorganisation drops or moves before that is not acted on, or is found at its last place. Where
 * a reorganisation goes deeper, the blocks are read again: a transfer keeps its id (transaction and place in it), and
 * is not acted on twice. Any number of processes may watch: what one has recorded or ended is not changed by the
 * others.
 */
export interface Watcher {
  /** Reads the confirmed blocks and ends the open transfers. Rejects with `chain_unavailable` and the store's errors. */
  step(): Promise<void>;
  /** Unix seconds up to which every confirmed transfer is recorded; 0 at first. */
  readUntil(): number;
}

const BLOCKS_AT_ONCE = 5_000;
/** Number of blocks that are read again where confirmed blocks have changed. */
const REREAD_BLOCKS = 256;
const TRANSFERS_AT_ONCE = 1_000;
/** Number of bytes that are stored of a memo. A longer memo is broken anyway. */
const MAX_MEMO_BYTES = 2_049;

export function createWatcher(options: WatcherOptions): Watcher {
  const { store, token, treasury, clock, logger } = options;
  const { network } = token;
  const watched = { network, treasury: treasury.toLowerCase() };
  let readUntil = 0;

  async function read(): Promise<void> {
    const startedAt = Math.floor(clock() / 1000);
    const head = await token.head();
    const last = head.number - token.confirmations + 1;
    const known = (await stored()) ?? (await begin(last));
    if (known === null) return;
    let cursor: Cursor = known;
    let from = await nextOf(known, last);
    while (from <= last) {
      const to = await blockAt(Math.min(from + BLOCKS_AT_ONCE - 1, last));
      const found = await transfersBetween(from, to);
      const move = { from: cursor, to: { height: to.number, blockHash: to.hash } };
      if ((await store.treasury.record(watched, found, move, null)) === 'overtaken') return;
      for (const { id } of found) logger.info({ transfer: id }, 'a transfer to the treasury is confirmed');
      cursor = move.to;
      from = to.number + 1;
    }
    readUntil = startedAt;
  }

  async function stored(): Promise<TreasuryCursor | null> {
    const cursors = await store.treasury.cursors(network);
    return cursors.find((one) => one.treasury === watched.treasury) ?? null;
  }

  /** Begins watching. Null where the chain has no confirmed block yet. */
  async function begin(last: number): Promise<TreasuryCursor | null> {
    const height = Math.max(0, options.fromBlock === null ? last : options.fromBlock - 1);
    if (height > last) return null;
    const { number, hash } = await blockAt(height);
    const held = await token.balanceOf(treasury, height);
    const to = { height: number, blockHash: hash };
    await store.treasury.record(watched, [], { from: null, to }, opening(watched, held, clock()));
    return stored();
  }

  async function nextOf({ height, blockHash, firstHeight }: TreasuryCursor, last: number): Promise<number> {
    const block = await token.block(height);
    // The node lags behind the one that was asked before, and does not have the block yet.
    if (block === null) return last + 1;
    if (block.hash === blockHash) return height + 1;
    logger.error({ height }, 'confirmed blocks have changed, so the newest are read again');
    return Math.max(firstHeight + 1, height - REREAD_BLOCKS);
  }

  async function blockAt(height: number): Promise<Block> {
    const block = await token.block(height);
    if (block !== null) return block;
    throw new TallyError('chain_unavailable', `The chain’s node has no block ${height}.`);
  }

  async function transfersBetween(fromBlock: number, to: Block): Promise<TransferRow[]> {
    const seenAt = Math.floor(clock() / 1000);
    const found: TransferRow[] = [];
    // What a treasury sends to itself, or an earlier one to this one, nobody has paid.
    const own = new Set((await store.treasury.cursors(network)).map((one) => one.treasury));
    for await (const transfer of token.transfers({ to: treasury, fromBlock, toBlock: to.number })) {
      if (!own.has(transfer.from)) found.push(rowOf(network, transfer, seenAt));
    }
    if ((await token.block(to.number))?.hash === to.hash) return found;
    throw new TallyError('chain_unavailable', 'The chain was reorganised while it was read.');
  }

  async function endAll(): Promise<void> {
    for (const transfer of await store.treasury.undecided(network, TRANSFERS_AT_ONCE)) {
      try {
        await endOne(transfer);
      } catch (error) {
        logger.warn({ err: error, transfer: transfer.id }, 'a transfer can’t be processed yet');
      }
    }
  }

  async function endOne(transfer: TransferRow): Promise<void> {
    const at = Math.floor(clock() / 1000);
    const owner = await options.ownerOf(transfer);
    if (owner === 'wait') return;
    const ending =
      owner === 'x402'
        ? { transfer: transfer.id, outcome: 'x402' as const, reference: transfer.txHash, at, posting: null }
        : await options.decide(transfer);
    const ended = await store.treasury.end(ending);
    const { outcome, reference } = ending;
    if (ended === 'ended') logger.info({ transfer: transfer.id, outcome, reference }, 'a transfer has ended');
    // Another process or another transfer came first: the next step decides again.
    if (ended === 'conflict') logger.info({ transfer: transfer.id }, 'a transfer is decided again');
  }

  return {
    readUntil: () => readUntil,
    async step() {
      await read();
      await endAll();
    },
  };
}

function rowOf(network: string, transfer: TokenTransfer, seenAt: number): TransferRow {
  const { txHash, ordinal, blockNumber, blockHash, blockTime, from, amount, memo } = transfer;
  return {
    id: `${network}:${txHash}:${ordinal}`,
    network,
    txHash,
    ordinal,
    height: blockNumber,
    blockHash,
    blockTime,
    sender: from,
    amount,
    memo: memo && toHex(memo.subarray(0, MAX_MEMO_BYTES)),
    seenAt,
  };
}

/** The posting that gives the owner what the treasury held before it was watched. */
function opening({ network, treasury }: Watched, held: bigint, now: number): LedgerPosting | null {
  if (held === 0n) return null;
  return {
    id: openingId(network, treasury),
    memo: 'what the treasury held at first',
    at: Math.floor(now / 1000),
    entries: [
      { account: chainAccount(network), amount: -toNanoUsdc(held) },
      { account: OWNER, amount: toNanoUsdc(held) },
    ],
  };
}
