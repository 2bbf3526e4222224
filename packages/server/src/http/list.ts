import { z } from '@hono/zod-openapi';
import {
  formatTimestamp,
  type JsonObject,
  type JsonValue,
  parseTimestamp,
  TallyError,
} from '@tallystick/core';
import { type Answer, json } from './answer.ts';
import { csvLine } from './csv.ts';
import { textStream } from './text-stream.ts';

/** A place in a list, which goes from the newest to the oldest: by time, then by id. */
export interface ListPlace {
  /** Unix milliseconds. */
  readonly at: number;
  readonly id: string;
}

/** A part of a list. */
export interface ListPage {
  /** Unix milliseconds, inclusive. */
  readonly from: number;
  /** Rows come after this place, so they are older than it. */
  readonly before: ListPlace;
  readonly limit: number;
}

/** What a list is made of. */
export interface Listing<Row> {
  /** Name of the file of an export, without its ending. */
  readonly name: string;
  /** Reads rows, newest first. */
  readonly read: (page: ListPage) => Promise<readonly Row[]>;
  readonly placeOf: (row: Row) => ListPlace;
  /** The row as it is answered. */
  readonly show: (row: Row) => JsonObject;
  /** Members of a row in the order of the columns of a CSV file; `a.b` for a member of a member. */
  readonly columns: readonly string[];
  /** The member in which clients read the rows before lists had one form. */
  readonly alias?: (data: JsonObject[]) => JsonObject;
  /** Whether everybody may read it. */
  readonly isPublic?: boolean;
}

const DEFAULT_LIMIT = 50;
const EXPORT_PAGE = 1_000;
/** The end of the year 9999. */
const LATEST = 253_402_300_799_999;

const timeText = (what: string) =>
  z
    .string()
    .optional()
    .openapi({ description: `${what} RFC 3339, or Unix seconds.`, example: '2027-03-01T12:00:00Z' });

/** The query parameters that every list takes. */
export const listQuery = {
  limit: z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, 'Not 1 to 1000')
    .optional()
    .openapi({
      description: `The most rows: 1 to 1000, ${DEFAULT_LIMIT} when absent. An export has all rows when it is absent.`,
    }),
  cursor: z
    .string()
    .optional()
    .openapi({ description: '`next_cursor` of an answer: continues after its last row.' }),
  from: timeText('The first instant of the period; from the beginning when absent.'),
  to: timeText('The end of the period, exclusive; up to now when absent.'),
  format: z
    .enum(['csv', 'ndjson'])
    .optional()
    .openapi({ description: 'Streams every row that matches as a file, instead of a page.' }),
} as const;

export type ListQuery = {
  readonly [Name in keyof typeof listQuery]?: z.infer<(typeof listQuery)[Name]> | undefined;
};

/** The schema of a page, for the reference. */
export function pageSchema<Row extends z.ZodType>(row: Row) {
  return z.object({
    data: z.array(row).openapi({ description: 'The rows, newest first.' }),
    next_cursor: z
      .string()
      .nullable()
      .openapi({ description: 'Continues after the last row; null where there are no more.' }),
  });
}

/** The other media types of a list, for the reference. */
export const EXPORT_TYPES = {
  'text/csv': z
    .string()
    .openapi({ description: 'With `format=csv`: a line of names, then a line for each row.' }),
  'application/x-ndjson': z.string().openapi({ description: 'With `format=ndjson`: a JSON object a line.' }),
};

/** Answers a page, or streams an export. @throws invalid_field; what `read` throws */
export async function listAnswer<Row>(query: ListQuery, listing: Listing<Row>): Promise<Answer> {
  const { isPublic = false } = listing;
  const headers = isPublic
    ? { 'cache-control': 'no-store' }
    : { 'cache-control': 'private, no-store', vary: 'Authorization' };
  const { from, before } = periodOf(query);
  if (query.format !== undefined) return exported(query, query.format, listing, { from, before, headers });
  const limit = Number(query.limit ?? DEFAULT_LIMIT);
  const rows = await listing.read({ from, before, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const data = shown.map(listing.show);
  const next_cursor = rows.length > limit && last !== undefined ? cursorOf(listing.placeOf(last)) : null;
  return json({ data, next_cursor, ...listing.alias?.(data) }, { headers });
}

/** Where a list begins and ends. @throws invalid_field */
export function periodOf({ from, to, cursor }: ListQuery): Pick<ListPage, 'from' | 'before'> {
  const start = from === undefined ? 0 : instantOf('from', from);
  const end = to === undefined ? LATEST : instantOf('to', to);
  if (from !== undefined && to !== undefined && start > end)
    throw new TallyError('invalid_field', 'to must not be before from.', { field: 'to' });
  const before = { at: end, id: '' };
  if (cursor === undefined) return { from: start, before };
  const place = placeIn(cursor);
  return { from: start, before: place.at < end ? place : before };
}

/** A time of a query in Unix milliseconds. @throws invalid_field */
function instantOf(field: string, text: string): number {
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1_000;
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/.exec(
    text,
  );
  const instant = parts === null ? null : parseTimestamp(`${parts[1]}Z`);
  if (parts === null || instant === null) {
    const message = `${field} must be a time as in RFC 3339, such as 2027-03-01T12:00:00Z, or Unix seconds.`;
    throw new TallyError('invalid_field', message, { field });
  }
  const [, , sign, hours = '0', minutes = '0'] = parts;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  return Math.max(0, instant.seconds * 1_000 + Math.floor(instant.nanos / 1e6) - offset);
}

/** A time as rows show it: RFC 3339 with milliseconds. */
export function timeOf(unixMs: number): string {
  const text = formatTimestamp(unixMs);
  return text.length === 20 ? `${text.slice(0, -1)}.000Z` : text;
}

function cursorOf({ at, id }: ListPlace): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

/** The number that is the id of a place; null of the beginning of a list. @throws invalid_field for the cursor of another list */
export function numberIn({ id }: ListPlace): number | null {
  if (id === '') return null;
  if (/^\d{1,15}$/.test(id)) return Number(id);
  throw foreignCursor();
}

/** @throws invalid_field */
function placeIn(cursor: string): ListPlace {
  const parts = /^(\d{1,15}) ([^\0]{1,200})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (parts !== null) {
    const place = { at: Number(parts[1]), id: parts[2] ?? '' };
    if (cursorOf(place) === cursor) return place;
  }
  throw foreignCursor();
}

function foreignCursor(): TallyError {
  const message = 'cursor must be the next_cursor of an answer of this list.';
  return new TallyError('invalid_field', message, { field: 'cursor' });
}

interface Export extends Pick<ListPage, 'from' | 'before'> {
  readonly headers: Readonly<Record<string, string>>;
}

/** The first rows are read before the answer begins, so that a database that is away is told by the status. */
async function exported<Row>(
  { limit }: ListQuery,
  format: 'csv' | 'ndjson',
  listing: Listing<Row>,
  { from, before, headers }: Export,
): Promise<Answer> {
  const most = limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  const lines = linesOf(format, listing, { from, before, most });
  const first = await lines.next();
  return {
    status: 200,
    body: textStream(joined(first, lines)),
    contentType: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
    headers: { ...headers, 'content-disposition': `attachment; filename="${listing.name}.${format}"` },
  };
}

/** Yields the text of an export, the lines of some rows at a time. */
async function* linesOf<Row>(
  format: 'csv' | 'ndjson',
  { read, placeOf, show, columns }: Listing<Row>,
  { from, before, most }: Pick<ListPage, 'from' | 'before'> & { readonly most: number },
): AsyncGenerator<string, void, undefined> {
  const lineOf = (row: Row): string =>
    format === 'csv'
      ? csvLine(columns.map((column) => memberOf(show(row), column)))
      : `${JSON.stringify(show(row))}\n`;
  let start = format === 'csv' ? csvLine(columns) : '';
  let place = before;
  let left = most;
  for (;;) {
    const limit = Math.min(left, EXPORT_PAGE);
    const rows = await read({ from, before: place, limit });
    const text = start + rows.map(lineOf).join('');
    if (text !== '') yield text;
    start = '';
    left -= rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit || left === 0) return;
    place = placeOf(last);
  }
}

function memberOf(row: JsonObject, column: string): JsonValue {
  let value: JsonValue = row;
  for (const name of column.split('.'))
    value =
      typeof value === 'object' && value !== null && !Array.isArray(value) ? (value[name] ?? null) : null;
  return value;
}

async function* joined(
  { value, done }: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<string, void, undefined> {
  if (done === true) return;
  yield value;
  yield* rest;
}
