import {
  EXIT,
  type Exit,
  paint,
  print,
  printable,
  printJson,
  readBytes,
  UsageError,
} from '@tallystick/cli/toolkit';
import { formatUsdc } from '@tallystick/ledger';
import { requireDatabase, serviceConfig, withStore } from '../files.ts';
import { bookedTo } from './booked.ts';
import { type Column, type InvoiceLine, readInvoice } from './invoice.ts';

export interface ReconcileOptions {
  readonly column?: Readonly<Partial<Record<Column, string>>>;
  /** Share of the larger amount by which the two may differ, in percent. */
  readonly tolerance?: number;
  readonly json?: boolean;
}

/** What a provider asks for and what the ledger books to it, of one model and day. Nano-USDC. */
interface Compared {
  readonly day: string;
  readonly model: string;
  readonly invoiced: bigint;
  readonly booked: bigint;
}

/** Compares a provider's invoice with what the ledger books to it, by model and day. */
export async function reconcileInvoice(
  provider: string,
  file: string,
  { column = {}, tolerance = 1, json }: ReconcileOptions,
): Promise<Exit> {
  const invoice = readInvoice(new TextDecoder().decode(await readBytes(file)), column);
  const days = invoice.map(({ day }) => day).toSorted();
  const [first, last] = [days.at(0), days.at(-1)];
  if (first === undefined || last === undefined)
    throw new UsageError('The file has no line beside the first.');
  const config = serviceConfig();
  requireDatabase(config);
  const booked = await withStore(config, ({ ledger }) => bookedTo(ledger, provider, { first, last }));
  const all = compare(invoice, booked);
  const differing = all.filter((one) => differs(one, tolerance));
  const totals = { invoiced: sum(all, 'invoiced'), booked: sum(all, 'booked') };
  if (json === true) {
    printJson({
      provider,
      from: first,
      to: last,
      tolerance,
      total: shown(totals),
      differences: differing.map(document),
    });
  } else {
    for (const one of differing) print(lineOf(one));
    print(
      `${provider}, ${first} to ${last}: invoiced ${formatUsdc(totals.invoiced)}, booked ${formatUsdc(totals.booked)}. ${differing.length} of ${all.length} models and days differ by more than ${tolerance} %.`,
    );
  }
  return differing.length === 0 ? EXIT.ok : EXIT.failed;
}

function compare(invoice: readonly InvoiceLine[], booked: readonly InvoiceLine[]): Compared[] {
  const names = [...new Set(booked.map(({ model }) => model))].toSorted((a, b) => b.length - a.length);
  const rows = new Map<string, { day: string; model: string; invoiced: bigint; booked: bigint }>();
  const rowOf = (day: string, model: string) => {
    const key = `${day} ${model}`;
    const row = rows.get(key) ?? { day, model, invoiced: 0n, booked: 0n };
    rows.set(key, row);
    return row;
  };
  for (const { day, model, amount } of invoice) rowOf(day, bookedName(model, names)).invoiced += amount;
  for (const { day, model, amount } of booked) rowOf(day, model).booked += amount;
  return [...rows.values()].toSorted((a, b) => (`${a.day} ${a.model}` < `${b.day} ${b.model}` ? -1 : 1));
}

/** An invoice may name the snapshot that served: `gpt-6-luna-2026-09-22`. */
function bookedName(model: string, names: readonly string[]): string {
  return (
    names.find((name) => model === name || /^-\d{4}-?\d{2}-?\d{2}$/.test(model.replace(name, ''))) ?? model
  );
}

function differs({ invoiced, booked }: Compared, percent: number): boolean {
  const [gap, larger] = [abs(invoiced - booked), abs(invoiced) > abs(booked) ? abs(invoiced) : abs(booked)];
  return gap * 10_000n > larger * BigInt(Math.round(percent * 100));
}

function lineOf({ day, model, invoiced, booked }: Compared): string {
  const gap = invoiced - booked;
  const text = `${gap > 0n ? '+' : ''}${formatUsdc(gap)}`.padStart(16);
  return `${day}  ${printable(model).padEnd(32)}  ${formatUsdc(invoiced).padStart(16)}  ${formatUsdc(booked).padStart(16)}  ${paint(gap > 0n ? 'red' : 'yellow', text)}`;
}

const document = ({ day, model, ...amounts }: Compared) => ({ day, model, ...shown(amounts) });
const shown = ({ invoiced, booked }: Pick<Compared, 'invoiced' | 'booked'>) => ({
  invoiced: formatUsdc(invoiced),
  booked: formatUsdc(booked),
  difference: formatUsdc(invoiced - booked),
});
const abs = (amount: bigint): bigint => (amount < 0n ? -amount : amount);
const sum = (rows: readonly Compared[], member: 'invoiced' | 'booked'): bigint =>
  rows.reduce((total, row) => total + row[member], 0n);
