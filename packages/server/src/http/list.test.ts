import { TallyError } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { csvLine } from './csv.ts';
import { type ListPlace, type ListQuery, listAnswer, periodOf } from './list.ts';

interface Row extends ListPlace {
  readonly note: string;
}

/** A list of rows in memory that says with which limits it was read. */
function listOf(rows: Row[]) {
  const limits: number[] = [];
  const answer = async (query: ListQuery = {}): Promise<Response> => {
    const { body, headers } = await listAnswer<Row>(query, {
      name: 'rows',
      columns: ['at', 'anchored.leaf', 'note'],
      async read({ from, before, limit }) {
        limits.push(limit);
        return rows
          .filter(({ at, id }) => at >= from && (at < before.at || (at === before.at && id < before.id)))
          .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
          .slice(0, limit);
      },
      placeOf: ({ at, id }) => ({ at, id }),
      show: ({ at, note }) => ({ at, note, anchored: { leaf: at * 2 } }),
    });
    return new Response(body, { headers: { ...headers } });
  };
  return { rows, limits, answer };
}

const rows = (count: number): Row[] =>
  Array.from({ length: count }, (_, n) => ({ at: Math.floor(n / 3), id: `r${n % 3}`, note: 'x' }));

const notesOf = async (answer: Response) =>
  (await answer.json()) as { data: { at: number }[]; next_cursor: string | null };

describe('a list', () => {
  it('is read page by page, no row twice and none lost, while newer rows come', async () => {
    const list = listOf(rows(20));
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await notesOf(await list.answer({ limit: '3', cursor }));
      seen.push(...page.data.map(({ at }) => at));
      list.rows.push({ at: 1_000 + seen.length, id: 'new', note: '' });
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual([6, 6, ...[5, 4, 3, 2, 1, 0].flatMap((at) => [at, at, at])]);
  });

  it('ends with its last row, also of a full page', async () => {
    expect((await notesOf(await listOf(rows(3)).answer({ limit: '3' }))).next_cursor).toBeNull();
    expect(await notesOf(await listOf([]).answer())).toEqual({ data: [], next_cursor: null });
  });

  it('exports everything in pages of one size', async () => {
    const list = listOf(rows(2_500));
    const lines = (await (await list.answer({ format: 'ndjson' })).text()).trimEnd().split('\n');
    expect(lines).toHaveLength(2_500);
    expect(JSON.parse(lines[0] ?? '')).toEqual({ at: 833, note: 'x', anchored: { leaf: 1_666 } });
    expect(list.limits).toEqual([1_000, 1_000, 1_000]);
    expect(await (await list.answer({ format: 'ndjson', limit: '2' })).text()).toMatch(/^(?:.+\n){2}$/);
    expect(await (await listOf([]).answer({ format: 'ndjson' })).text()).toBe('');
  });

  it('exports a table with a line of names', async () => {
    const answer = await listOf([{ at: 4, id: 'a', note: '=1,"2"' }]).answer({ format: 'csv' });
    expect(await answer.text()).toBe('at,anchored.leaf,note\r\n4,8,"\'=1,""2"""\r\n');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="rows.csv"');
  });

  it('is told of no database before the export begins', async () => {
    const read = async (): Promise<never[]> => {
      throw new TallyError('unavailable', 'No database.');
    };
    const listing = { name: 'x', columns: [], read, placeOf: () => ({ at: 0, id: '' }), show: () => ({}) };
    await expect(listAnswer({ format: 'csv' }, listing)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the period of a list', () => {
  it.each([
    [{ from: '100', to: '200' }, 100_000, 200_000],
    [{ from: '2027-03-01T12:00:00Z' }, 1_803_902_400_000, 253_402_300_799_999],
    [{ from: '2027-03-01T14:00:00.5+02:00' }, 1_803_902_400_500, 253_402_300_799_999],
    [{ to: '2027-03-01T10:30:00-01:30' }, 0, 1_803_902_400_000],
  ])('%o', (query, from, to) => {
    expect(periodOf(query)).toEqual({ from, before: { at: to, id: '' } });
  });

  it('goes on after a row whose id is any text', () => {
    const before = { at: 1, id: 'run 7, ü\n' };
    const cursor = Buffer.from(`1 ${before.id}`).toString('base64url');
    expect(periodOf({ cursor })).toEqual({ from: 0, before });
  });

  it.each([
    ['from', { from: 'yesterday' }],
    ['from', { from: '2027-02-30T00:00:00Z' }],
    ['to', { to: '2027-03-01' }],
    ['from', { from: '2027-03-01T12:00:00+24:00' }],
    ['to', { to: '2027-03-01T12:00:00-99:59' }],
    ['to', { from: '200', to: '100' }],
    ['cursor', { cursor: '' }],
    ['cursor', { cursor: 'abc' }],
    ['cursor', { cursor: `${Buffer.from('1 a').toString('base64url')}=` }],
    ['cursor', { cursor: Buffer.from('-1 a').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('1 a\0').toString('base64url') }],
    ['cursor', { cursor: Buffer.from([0x31, 0x20, 0xff]).toString('base64url') }],
  ])('refuses %s in %o', (field, query) => {
    expect(() => periodOf(query)).toThrow(expect.objectContaining({ code: 'invalid_field', field }));
  });
});

it.each([
  ['+1', "'+1"],
  ['-1.5', '-1.5'],
  ['@x', "'@x"],
  [null, ''],
  [{ a: 1 }, '"{""a"":1}"'],
  ['a\r\nb', '"a\r\nb"'],
])('a cell of %o', (value, cell) => {
  expect(csvLine([value])).toBe(`${cell}\r\n`);
});
