import { expect, it } from 'vitest';
import { KeptItems } from './kept-items.ts';

const DAY = 86_400_000;
const id = `msg_${'a'.repeat(40)}`;
const item = { id, type: 'message', content: [{ type: 'output_text', text: 'Zürich' }] };

/** Notes by place, as a store keeps them. */
function kept(at = { now: 1_000_000_000_000 }) {
  const rows = new Map<string, { value: string; expiresAt: number }>();
  const store = {
    recall: async (account: string, conversation: string, now: number) => {
      const row = rows.get(`${account}/${conversation}/item`);
      return new Map(row === undefined || row.expiresAt <= now ? [] : [['item', row.value]]);
    },
    remember: async (
      account: string,
      conversation: string,
      notes: readonly { key: string; value: string }[],
      { expiresAt }: { expiresAt: number },
    ) => {
      for (const { key, value } of notes) rows.set(`${account}/${conversation}/${key}`, { value, expiresAt });
      return new Map<string, string>();
    },
  };
  return { items: new KeptItems(store, () => at.now), rows, at };
}

it('finds an item by its id, for a day', async () => {
  const { items, at } = kept();
  await items.keep([item], 'Bearer a');
  expect(await items.find([id, 'msg_of_somebody_else_0000000'], 'Bearer a')).toEqual(new Map([[id, item]]));
  at.now += DAY;
  expect(await items.find([id], 'Bearer a')).toEqual(new Map());
});

it('tells items of one id apart by the credential of their callers', async () => {
  const { items } = kept();
  const other = { ...item, content: [] };
  await items.keep([item], 'Bearer a');
  expect(await items.find([id], 'Bearer b')).toEqual(new Map());
  await items.keep([other], 'Bearer b');
  expect(await items.find([id], 'Bearer a')).toEqual(new Map([[id, item]]));
  expect(await items.find([id], 'Bearer b')).toEqual(new Map([[id, other]]));
});

it('stores neither the id nor the text', async () => {
  const { items, rows } = kept();
  await items.keep([item], 'Bearer a');
  expect(rows.size).toBe(1);
  for (const [place, { value }] of rows) {
    expect(place).not.toContain(id);
    expect(Buffer.from(value, 'base64').toString('latin1')).not.toContain('rich');
  }
});

it.each([
  ['has no id', { type: 'message' }],
  ['has an id that could be guessed', { ...item, id: 'msg_1' }],
  ['is over 1 MiB', { ...item, text: 'x'.repeat(1_048_576) }],
])('does not keep an item that %s', async (_what, given) => {
  const { items, rows } = kept();
  await items.keep([given], 'Bearer a');
  expect(rows.size).toBe(0);
});

it('refuses an item that was changed in the store', async () => {
  const { items, rows } = kept();
  await items.keep([item], 'Bearer a');
  for (const row of rows.values())
    row.value = `${row.value.startsWith('A') ? 'B' : 'A'}${row.value.slice(1)}`;
  await expect(items.find([id], 'Bearer a')).rejects.toThrow('authenticate');
});

it('looks up the first thousand references only', async () => {
  const { items } = kept();
  await items.keep([item], 'Bearer a');
  const ids = [...Array.from({ length: 1_000 }, (_, index) => `msg_${index}`), id];
  expect(await items.find(ids, 'Bearer a')).toEqual(new Map());
  expect((await items.find(ids.slice(1), 'Bearer a')).size).toBe(1);
});
