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
import { requireDatabase, serviceConfig, withStore } from './files.ts';

type Store = Parameters<Parameters<typeof withStore>[1]>[0];
type Kind = PayoutRow['kind'];

const POLL_MS = 1_000;
const DEFAULT_WAIT = 300;

export async function list(
  kind: Kind,
  { all = false, json }: { all?: boolean; json?: boolean },
): Promise<void> {
  const rows = (await onStore((store) => payouts(store, kind))).filter((row) => all || isOpen(row));
  if (json) return printJson(rows.map(listing));
  for (const row of rows) print(line(row));
  if (rows.length === 0) remark(`There is no ${kind}${all ? '' : ' waiting'}.`);
}

/** Pays out, and waits for the confirmation. */
export async function pay(
  kind: Kind,
  ids: readonly string[],
  { wait = DEFAULT_WAIT, paidBy, json }: { wait?: number; paidBy?: string; json?: boolean },
): Promise<Exit> {
  return onStore(async (store, config) => {
    const open = (await payouts(store, kind)).filter(isOpen);
    const selected = ids.length === 0 ? open : ids.map((id) => named(open, id, kind));
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
    const open = (await payouts(store, kind)).filter(isOpen);
    const selected = ids.map((id) => named(open, id, kind));
    for (const row of selected) await declinePayout(store, row, note, Date.now());
    return current(store, selected);
  });
  if (json) return printJson(rows.map(listing));
  for (const row of rows) print(line(row));
}

function isOpen({ state }: PayoutRow): boolean {
  return state === 'waiting' || state === 'paying';
}

function named(open: readonly PayoutRow[], id: string, kind: Kind): PayoutRow {
  const found = open.find((row) => row.id === id);
  if (found !== undefined) return found;
  throw new UsageError(`There is no ${kind} ${printable(id)} waiting. See: tally ${kind}s list --all`);
}

async function payouts(store: Store, kind: Kind): Promise<PayoutRow[]> {
  const rows: PayoutRow[] = [];
  for await (const row of store.treasury.listPayouts(kind)) rows.push(row);
  return rows;
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
