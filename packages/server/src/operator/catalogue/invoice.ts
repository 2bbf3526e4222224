import { csvFields, UsageError } from '@tallystick/cli/toolkit';
import { TallyError } from '@tallystick/core';
import { parseUsdc } from '@tallystick/ledger';

/** One line of a provider's invoice, or usage export. */
export interface InvoiceLine {
  /** UTC, as `2026-11-23`. */
  readonly day: string;
  readonly model: string;
  /** Nano-dollars; a nano-USDC is taken for one. */
  readonly amount: bigint;
}

/** Names of the columns that are looked for, without case, spaces and punctuation. The first one that is there counts. */
const COLUMNS = {
  day: ['date', 'day', 'usagedateutc', 'usagedate', 'starttime', 'starttimeiso', 'timestamp'],
  model: ['model', 'modelversion', 'modelname', 'lineitem', 'sku'],
  amount: ['amount', 'cost', 'costusd', 'amountusd', 'amountvalue', 'total', 'totalcost'],
} as const;
export type Column = keyof typeof COLUMNS;

/**
 * Reads the lines of a CSV file whose first line names its columns.
 * @param names of columns, where they are others than the usual ones
 * @throws UsageError with the line
 */
export function readInvoice(text: string, names: Readonly<Partial<Record<Column, string>>>): InvoiceLine[] {
  const [first = '', ...lines] = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const header = (csvFields(first) ?? []).map(plain);
  const placeOf = (column: Column): number => {
    const wanted: readonly string[] = names[column] === undefined ? COLUMNS[column] : [plain(names[column])];
    const found = wanted.map((name) => header.indexOf(name)).find((place) => place >= 0);
    if (found !== undefined) return found;
    throw new UsageError(`The file has no column for the ${column}. Name it: --column ${column}=<name>.`);
  };
  const [day, model, amount] = [placeOf('day'), placeOf('model'), placeOf('amount')];
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const fields = csvFields(line);
    const read = fields && lineOf(fields[day], fields[model], fields[amount]);
    if (!read) throw new UsageError(`Line ${index + 2} has no day, model and amount that can be read.`);
    return [read];
  });
}

function lineOf(day = '', model = '', amount = ''): InvoiceLine | null {
  const date = /^\d{4}-\d{2}-\d{2}/.exec(day.trim())?.[0];
  const nano = nanoOf(amount.trim().replace(/^\$/, ''));
  return date === undefined || model.trim() === '' || nano === null
    ? null
    : { day: date, model: model.trim(), amount: nano };
}

/** An amount of dollars, whose digits beyond the ninth decimal are dropped; null if it is none. */
function nanoOf(text: string): bigint | null {
  const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text);
  if (match === null) return null;
  const [, sign, whole = '0', decimals = ''] = match;
  try {
    const nano = parseUsdc(`${whole.replace(/^0+(?=\d)/, '')}.${decimals.slice(0, 9).padEnd(9, '0')}`);
    return sign === '-' ? -nano : nano;
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
