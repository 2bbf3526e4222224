import { setTimeout } from 'node:timers/promises';
import {
  EXIT,
  type Exit,
  paint,
  print,
  printable,
  printJson,
  remark,
  UsageError,
} from '@tallystick/cli/toolkit';
import { formatTimestamp } from '@tallystick/core';
import { formatUsdc } from '@tallystick/ledger';
import { declinePayout, openTreasuryCommands, type PayoutRow } from '@tallystick/payments';
import type { Config } from '../config/config.ts';
import { DEFAULT_ROWS, type RowOptions } from './commands/rows.ts';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

type Store = Parameters<Parameters<typeof withStore>[1]>[0];
type Kind = PayoutRow['kind'];

const POLL_MS = 1_000;
const DEFAULT_WAIT = 300;

/** Lists the payouts that wait or are under way; with `all`, the newest of all, or those before one. Oldest first. */
export async function list(
  kind: Kind,
  { all = false, before, limit = DEFAULT_ROWS, json }: RowOptions,
): Promise<void> {
  const rows = await onStore(async (store) => {
    if (!all) return open(store, kind);
    const next = before === undefined ? undefined : await named(store, kind, before);
    return (await store.treasury.newestPayouts(kind, limit, next)).toReversed();
  });
  if (json) printJson(rows.map(listing));
  else for (const row of rows) print(line(row));
  const [oldest] = rows;
  if (oldest === undefined) {
    if (!json)
      remark(`There is no ${kind}${all ? '' : ' waiting'}${before === undefined ? '' : ' before it'}.`);
  } else if (all && rows.length === limit) remark(`Those before them: --before ${oldest.id}`);
}

/** Pays out, and waits for the confirmation. */
export async function pay(
  kind: Kind,
  ids: readonly string[],
  { wait = DEFAULT_WAIT, paidBy, json }: { wait?: number; paidBy?: string; json?: boolean },
): Promise<Exit> {
  return onStore(async (store, config) => {
    const selected = ids.length === 0 ? await open(store, kind) : await waiting(store, kind, ids);
    const treasury = await openTreasuryCommands(config, store);
    const outcomes =
      paidBy === undefined ? await payAll(treasury, selected) : await book(treasury, selected, paidBy);
    const isUnderWay = async (): Promise<boolean> => {
      await treasury.follow();
      return (await current(store, outcomes)).some(({ state }) => state === 'paying');
    };
    const deadline = Date.now() + wait * 1_000;
    while (Date.now() < deadline && (await isUnderWay())) await setTimeout(POLL_MS);
    const after = await current(store, outcomes);
    if (json)
      printJson(after.map((row, index) => ({ ...listing(row), problem: outcomes[index]?.problem ?? null })));
    else for (const row of after) print(line(row));
    for (const { id, problem } of outcomes) if (problem !== null) remark(`${id}: ${problem}.`);
    if (selected.length === 0) remark(`There is no ${kind} to pay.`);
    return after.every(({ state }) => state === 'paid') ? EXIT.ok : EXIT.failed;
  });
}

type TreasuryCommands = Awaited<ReturnType<typeof openTreasuryCommands>>;
type Outcomes = Awaited<ReturnType<TreasuryCommands['pay']>>;

async function payAll(treasury: TreasuryCommands, selected: readonly PayoutRow[]): Promise<Outcomes> {
  return selected.length === 0 ? [] : treasury.pay(selected);
}

async function book(
  treasury: TreasuryCommands,
  selected: readonly PayoutRow[],
  txHash: string,
): Promise<Outcomes> {
  for (const payout of selected) await treasury.bookPaid(payout, txHash);
  return selected.map(({ id }) => ({ id, txHash, problem: null }));
}

/** Dismisses a refund, or rejects a withdrawal. */
export async function decline(
  kind: Kind,
  ids: readonly string[],
  { note, json }: { note: string; json?: boolean },
): Promise<void> {
  const rows = await onStore(async (store) => {
    const selected = await waiting(store, kind, ids);
    for (const row of selected) await declinePayout(store, row, note, Date.now());
    return current(store, selected);
  });
  if (json) return printJson(rows.map(listing));
  for (const row of rows) print(line(row));
}

async function open({ treasury }: Store, kind: Kind): Promise<PayoutRow[]> {
  const rows: PayoutRow[] = [];
  for await (const row of treasury.listOpenPayouts(kind)) rows.push(row);
  return rows;
}

/** @throws UsageError where one of them is neither waiting nor under way */
async function waiting(store: Store, kind: Kind, ids: readonly string[]): Promise<PayoutRow[]> {
  const rows = await Promise.all(ids.map((id) => named(store, kind, id)));
  const ended = rows.find(({ state }) => state !== 'waiting' && state !== 'paying');
  if (ended === undefined) return rows;
  throw new UsageError(`The ${kind} ${ended.id} has ended: it is ${ended.state}.`);
}

/** @throws UsageError where there is none */
async function named({ treasury }: Store, kind: Kind, id: string): Promise<PayoutRow> {
  const found = await treasury.payout(id);
  if (found?.kind === kind) return found;
  throw new UsageError(`There is no ${kind} ${printable(id)}. See: tally ${kind}s list`);
}

async function current(store: Store, of: readonly { readonly id: string }[]): Promise<PayoutRow[]> {
  const rows = await Promise.all(of.map(({ id }) => store.treasury.payout(id)));
  return rows.flatMap((row) => row ?? []);
}

function listing(row: PayoutRow) {
  const { id, state, network, account, address, reason, transfer, note } = row;
  return {
    id,
    state,
    network,
    account,
    address,
    amount: usdc(row),
    reason,
    transfer,
    requested_at: formatTimestamp(row.createdAt * 1000),
    tx_hash: row.txHash,
    nonce: row.nonce,
    note,
  };
}

const usdc = ({ amount }: PayoutRow): string => formatUsdc(amount * 1000n);

function line(row: PayoutRow): string {
  const { id, state, address, kind, reason, account, txHash, note } = row;
  const why = kind === 'refund' ? (reason ?? '') : account;
  const rest = [txHash, note === null ? null : printable(note)].filter((text) => text !== null).join('  ');
  return `${id}  ${state.padEnd(8)}  ${usdc(row).padStart(14)}  ${address}  ${printable(why)}  ${paint('dim', rest)}`;
}

function onStore<T>(work: (store: Store, config: Config) => Promise<T>): Promise<T> {
  const config = serviceConfig();
  requireDatabase(config);
  return withStore(config, (store) => work(store, config));
}
