import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyDocument, json } from '../../test/documents.ts';
import { segmentsOf } from '../blocks/segments.ts';
import { minifyJson } from '../json/minify.ts';
import { type Form, unitsOf } from './units.ts';

const forms: Form[] = [
  'prose',
  'dialogue',
  'log',
  'search',
  'table',
  'json',
  'jsonl',
  'json-tsv',
  'json-toon',
  'json-packed',
  'code',
];
const texts = (form: Form, text: string, fixed = false): string[] =>
  unitsOf(form, text)
    .filter((unit) => unit.fixed === fixed)
    .map(({ start, end }) => text.slice(start, end));

test('the units of any text, taken for anything, are the whole text', () => {
  fc.assert(
    fc.property(fc.oneof(anyDocument, json.map(minifyJson)), fc.constantFrom(...forms), (text, form) => {
      const units = unitsOf(form, text);
      expect(units.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text);
      expect(units.every(({ start, end }, i) => start === (units[i - 1]?.end ?? 0) && end >= start)).toBe(
        true,
      );
    }),
    { numRuns: 1000 },
  );
});

describe('JSON', () => {
  test('the items of lists, and of long items those within', () => {
    const long = 'x'.repeat(1500);
    const text = JSON.stringify({
      total: 2,
      rows: [{ id: 1 }, { id: 2, of: ['ab', 'cd', long] }],
      at: [1, 2, 3],
    });
    expect(texts('json', text)).toStrictEqual([
      '{"id":1},',
      '"ab",',
      '"cd",',
      ...texts('json', text).slice(3),
    ]);
    expect(texts('json', text, true)[0]).toBe('{"total":2,"rows":[');
  });

  test('the objects in a long item, of which a short one is no unit', () => {
    const sender = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`name${i}`, `value ${i}`]));
    const item = { action: 'edited', sender, of: { id: 7 }, rule: sender, body: [sender, sender, sender] };
    expect(texts('json', JSON.stringify([item]))).toStrictEqual([
      `"sender":${JSON.stringify(sender)},`,
      `"rule":${JSON.stringify(sender)},`,
      `${JSON.stringify(sender)},`,
      `${JSON.stringify(sender)},`,
      JSON.stringify(sender),
    ]);
    expect(texts('json', JSON.stringify({ ...item, body: 1 }))).toStrictEqual([]);
  });

  test('the lines and sentences of a long string', () => {
    const page = `First line.\n${'Some words here. '.repeat(30)}\nLast line.`;
    const found = texts('json', JSON.stringify({ page }));
    expect(found[0]).toBe('First line.\\n');
    expect(found[1]).toBe('Some words here. ');
    expect(found.at(-1)).toBe('Last line.');
  });

  test('a backslash before n is no line', () => {
    const page = `${String.raw`C:\new `.repeat(80)}end`;
    const found = texts('json', JSON.stringify({ page }));
    expect(found.every((text) => !text.startsWith('ew'))).toBe(true);
  });

  test('in TOON, the items of lists and the rows of tables', () => {
    const text =
      'total: 3\nitems[2]:\n  - id: 1\n    tags[1]: a\n  - id: 2\nrows[2]{a,b}:\n  1,2\n  3,4\nend: 1';
    expect(texts('json-toon', text)).toStrictEqual([
      '  - id: 1\n    tags[1]: a\n',
      '  - id: 2\n',
      '  1,2\n',
      '  3,4\n',
    ]);
  });
});

test('in JSON with tables, their rows and the items of other lists', () => {
  const text =
    'JSON with tables: cells of a row fill the <> in order, strings unquoted.\n{"a":["x","y"],"b":<table1>}\n<table1>, 2 rows of {"n":<>}\n1\n2';
  const long = text.replace('"x"', `"${'x '.repeat(60)}"`);
  expect(texts('json-packed', long)).toStrictEqual([`"${'x '.repeat(60)}",`, '"y"', '1\n', '2']);
});

describe('prose', () => {
  test('lines that each end a sentence are entries; wrapped lines are not', () => {
    const sentence = 'The gate was closed at noon because the wind had risen to a storm';
    const entries = Array.from({ length: 5 }, (_, i) => `${sentence} ${i}. It stayed so.`).join('\n');
    expect(texts('prose', entries)).toHaveLength(5);
    const wrapped = Array.from({ length: 5 }, () => sentence).join('\n');
    expect(texts('prose', `${wrapped}.`)).toHaveLength(1);
  });
});

test('text that was wrapped unevenly is cut by sentences, since its lines go on with them', () => {
  const wrapped = `The FROM clause names the tables. A table that stands
there twice needs an alias, because
columns of the two could not be told from one another otherwise. Note that
the order of the rows is not defined
unless the query says how they are to be sorted. It may
change between two runs, which is a common cause of errors
that are hard to find.`;
  expect(texts('prose', wrapped)).toHaveLength(4);
  const listing = 'copy the file\nopen the old door\nread the long list of names there\n'.repeat(4);
  expect(texts('prose', listing)).toHaveLength(12);
});

describe('listings', () => {
  const unders = (form: Form, text: string): [string, string | undefined][] => {
    const units = unitsOf(form, text);
    const textAt = (at: number | undefined): string | undefined => {
      const found = units.find(({ start }) => start === at);
      return found && text.slice(found.start, found.end).trim();
    };
    return units.map(({ start, end, under }) => [text.slice(start, end).trim(), textAt(under)]);
  };
  const lines = (count: number, line: (i: number) => string): string =>
    Array.from({ length: count }, (_, i) => line(i)).join('\n');

  test('a line of a configuration stands under its key', () => {
    const text = `services:\n${lines(5, (i) => `  store-${i}:\n    image: registry.example/store:${i}\n    replicas: ${i}`)}`;
    const found = unders('prose', text);
    expect(found).toHaveLength(16);
    expect(found[0]).toStrictEqual(['services:', undefined]);
    expect(found[4]).toStrictEqual(['store-1:', 'services:']);
    expect(found[6]).toStrictEqual(['replicas: 1', 'store-1:']);
  });

  test('an entry stands under its section, a row under the names of the columns', () => {
    const ini = `[store]\n${lines(20, (i) => `key.of.entry.${i} = ${i}`)}`;
    expect(unders('prose', ini)[9]).toStrictEqual(['key.of.entry.8 = 8', '[store]']);
    const pods = `NAME        READY   STATUS    AGE\n${lines(12, (i) => `pod-${i}       1/1     Running   ${i}d`)}`;
    expect(unders('prose', pods)[3]?.[1]).toBe('NAME        READY   STATUS    AGE');
  });

  test('an item stands under its heading, a mail under its header', () => {
    const list = `## Not allowed\n${lines(12, (i) => `- Feeding the lab mice of shelf ${i}`)}`;
    expect(unders('prose', list)[4]).toStrictEqual(['- Feeding the lab mice of shelf 3', '## Not allowed']);
    const mail = 'From: Ann\nDate: 1 May 2024\n\nThe kettle is in room 4.';
    expect(unders('prose', mail)[1]).toStrictEqual([
      'The kettle is in room 4.',
      'From: Ann\nDate: 1 May 2024',
    ]);
  });

  test('a table of SQL and markup are lines', () => {
    const rows = lines(10, (i) => `  ${i} | name ${i} | ${i * 7}`);
    expect(texts('table', `  id | name | sum\n-----+------+----\n${rows}`, true)).toHaveLength(2);
    expect(texts('markup', `<ul>\n${lines(10, (i) => `<li>${i}</li>`)}\n</ul>`)).toHaveLength(12);
  });
});

test('a page begins a paragraph, and its heading is one', () => {
  const page = (name: string): string => `${name}\n\nBoats leave at eight.\n`;
  const text = [page('FIRST PART'), page('SECOND PART'), page('LAST PART')].join('\f');
  const units = unitsOf('prose', text);
  expect(
    units.filter(({ heading }) => heading).map(({ start, end }) => text.slice(start, end)),
  ).toStrictEqual(['FIRST PART\n\n', '\fSECOND PART\n\n', '\fLAST PART\n\n']);
});

test('a row of separated values goes on within a quoted cell', () => {
  const rows = Array.from({ length: 6 }, (_, i) => `${i},"Boat ""${i}""\nleaves, at\n\neight",${i * 3}\n`);
  const text = `id,note,berth\n${rows.join('')}`;
  expect(segmentsOf(text).map(({ kind }) => kind)).toStrictEqual(['table']);
  expect(texts('table', text)).toStrictEqual(rows);
});
