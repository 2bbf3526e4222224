import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { json, records } from '../../test/documents.ts';
import { readPacked } from '../../test/packed/reader.ts';
import { compress } from '../compress.ts';
import { minifyJson } from '../json/minify.ts';
import { parseTree, sameTree } from '../json/tree.ts';
import { decodePacked, packedForms } from './packed.ts';

/** Documents that are generated: a hundred thousand where there is time for them. */
const DOCUMENTS = Number(process.env['TALLY_COMPRESS_DOCUMENTS'] ?? 2000);
const { TALLY_COMPRESS_SEED: SEED } = process.env;

const packedValue = (value: unknown): string => {
  const text = JSON.stringify(value);
  return packedForms(parseTree(text)!, text).at(-1)!;
};

const repository = 'https://api.example.com/repos/ana/harbour';
const pods = ['web', 'db', 'cache'].map((name, i) => ({
  kind: 'Pod',
  metadata: { name, namespace: 'shop', link: `/api/v1/namespaces/shop/pods/${name}` },
  status: { phase: 'Running', restarts: i, ...(i === 1 ? { reason: 'Evicted' } : {}) },
}));

describe('what a model reads', () => {
  test('a list of nested objects is a pattern and rows', () => {
    expect(packedValue({ total: 3, items: pods })).toBe(
      [
        'JSON with tables and few quotes: cells of a row fill the <> in order. ' +
          'The same <name> is the same cell. What has only empty cells is left out.',
        '{total:3 items:<table1>}',
        '<table1>, 3 rows of {kind:Pod metadata:{name:<name> namespace:shop ' +
          'link:/api/v1/namespaces/shop/pods/<name>} status:{phase:Running restarts:<> reason:<>}}',
        'web\t0\t',
        'db\t1\tEvicted',
        'cache\t2\t',
      ].join('\n'),
    );
  });

  test('strings that look like numbers have their quotation marks in the pattern, once', () => {
    const rows = [
      { code: '004', zip: '1010', size: 3, tag: '7' },
      { code: '533', zip: '8010', size: 4, tag: 'x' },
      { code: 'null', zip: '80"0', size: '4', tag: 'y' },
    ];
    expect(packedValue({ rows }).split('\n').slice(2)).toEqual([
      '<table1>, 3 rows of {code:"<>" zip:<> size:<> tag:<>}',
      '004\t"1010"\t3\t"7"',
      '533\t"8010"\t4\tx',
      'null\t80"0\t"4"\ty',
    ]);
    expect(readPacked(packedValue({ rows }))).toEqual({ rows });
  });

  test('an object whose members are objects is a pattern and a row for each member', () => {
    const packages = Object.fromEntries(
      ['a-lock', 'b-lock', '007', 'd-lock', 'e-lock'].map((name, i) => [
        `node_modules/${name}`,
        {
          version: `1.${i}.0`,
          resolved: `https://registry.example/${name}/-/${name}-1.${i}.0.tgz`,
          ...(i % 2 === 0 ? { dev: true } : { peer: i }),
        },
      ]),
    );
    expect(packedValue({ lock: 3, packages }).split('\n')).toEqual([
      'JSON with tables and few quotes: cells of a row fill the <> in order. ' +
        'The same <name> is the same cell. What has only empty cells is left out. Members make up one object.',
      '{lock:3 packages:<table1>}',
      '<table1>, 5 members of node_modules/<name>:{version:1.<version>.0 ' +
        'resolved:https://registry.example/<name>/-/<name>-1.<version>.0.tgz dev:<> peer:<>}',
      'a-lock\t0\ttrue\t',
      'b-lock\t1\t\t1',
      '007\t2\ttrue\t',
      'd-lock\t3\t\t3',
      'e-lock\t4\ttrue\t',
    ]);
    expect(readPacked(packedValue({ lock: 3, packages }))).toEqual({ lock: 3, packages });
  });

  test('members are found in one order, where each has some of them', () => {
    const item = (...names: string[]): object => Object.fromEntries(names.map((name) => [name, name.length]));
    const items = [
      item('from'),
      item('from', 'until'),
      item('from', 'charset', 'for'),
      item('for', 'until'),
      item('until'),
    ];
    expect(packedValue(items.map((own) => ({ id: 'x', own }))).split('\n')[2]).toBe(
      '<table1>, 5 rows of {id:x own:{from:<> charset:<> for:<> until:<>}}',
    );
    expect(readPacked(packedValue(items))).toEqual(items);
  });

  test('what is repeated has an alias', () => {
    const owner = { login: 'ana', url: 'https://api.example.com/users/ana' };
    expect(
      packedValue({ url: `${repository}/pulls/2`, html: `${repository}/2`, owner, author: owner, by: owner }),
    ).toBe(
      [
        'Let $1={login:ana url:https://api.example.com/users/ana}',
        `$2=${repository}`,
        'JSON with few quotes:',
        '{url:$2/pulls/2 html:$2/2 owner:$1 author:$1 by:$1}',
      ].join('\n'),
    );
  });
});

test('what needs quotation marks keeps them', () => {
  const value = {
    word: 'web',
    time: '2026-03-01T10:00:00Z',
    'a name': 'a b',
    '4': '4',
    'a:b': 'a,b',
    true: 'true',
    none: '',
    other: ':-)',
    list: ['web', 'arn:aws:s3', '-1', 'x y', '\\', 'Zürich', '\u2028', -1, true, null, { n: [1, [2, 'z']] }],
  };
  expect(packedValue(value)).toBe(
    'JSON with few quotes:\n{4:"4" word:web time:2026-03-01T10:00:00Z,"a name":"a b","a:b":"a,b" true:"true" none:"" other:":-)" ' +
      'list:[web,"arn:aws:s3","-1","x y","\\\\" Zürich,"\u2028",-1,true,null,{n:[1,[2 z]]}]}',
  );
  expect(readPacked(packedValue(value))).toEqual(value);
  expect(decodePacked(packedValue(value))).toEqual(parseTree(JSON.stringify(value)));
});

describe('a document that looks like what we write', () => {
  const rule = packedValue(pods).split('\n')[0]!;
  const rows = (text: string): unknown[] =>
    pods.map((pod, i) => ({ ...pod, note: text, [`n${i % 2}`]: text + i }));

  test.each([
    '<table1>',
    '<table1>, 2 rows of {"a":<>}',
    '$1',
    '$1={}',
    '«name»',
    '<>',
    '~1 $2 @3',
    '\u0001',
    rule,
  ])('%s is itself', (text) => {
    const value = { items: rows(text), more: rows(`x ${text} y`), again: [text, text, text] };
    const encoded = packedValue(value);
    expect(JSON.stringify(readPacked(encoded))).toBe(JSON.stringify(value));
    expect(sameTree(decodePacked(encoded)!, parseTree(JSON.stringify(value))!)).toBe(true);
  });

  test('with every mark and bracket there is, it has neither aliases nor tables', () => {
    const text = JSON.stringify(rows('< « ⟨ $1 ~1 @1 &1'));
    expect(packedForms(parseTree(text)!, text)).toEqual([
      expect.stringMatching(/^JSON with few quotes:\n\[\{kind:Pod /),
    ]);
  });

  test.each([
    'Let $1=1',
    'Let $1=$1\n$1',
    'JSON with few quotes:',
    'JSON with few quotes:\n{a:1 b}',
    'JSON with few quotes:\n{a:x\ty}',
    rule,
    `${rule}\n<table1>`,
    `${rule}\n<table1>\n<table1>, 2 rows of {"a":<>}\n1`,
    `${rule}\n<table1>\n<table1>, 1 rows of {"a":<>}\n1\t2`,
    `${rule}\n<table1>\nno table`,
  ])('what we would not have written is not read: %j', (text) => {
    expect(decodePacked(text)).toBeUndefined();
  });
});

describe('a document that is cut', () => {
  const events = Array.from({ length: 40 }, (_, i) => ({
    id: `evt-${i}`,
    actor: { login: 'ana', url: 'https://api.example.com/users/ana/profile' },
    ...(i % 3 === 0
      ? { payload: [`https://api.example.com/users/ana/events/${i * 7}`, i] }
      : { ref: `branch ${i * 11}` }),
  }));
  const actors = [events[0]?.actor, events[1]?.actor, events[2]?.actor];
  const content = JSON.stringify({ events, first: { actors }, later: [[actors], [actors]] });
  const sent = (budget: number): string =>
    compress([{ role: 'tool', content }], {
      tier: 'extractive',
      budget,
      query: 'Which event has branch 209?',
    }).messages[0]!.content as string;

  test('keeps its aliases while nothing is cut', () => {
    expect(sent(0.9)).toMatch(/^Let \$1=/);
    expect(readPacked(sent(0.9))).toEqual(JSON.parse(content));
  });

  test('is cut row by row, with its texts in full', () => {
    const text = sent(0.15);
    expect(text).toContain('"ref":"branch <>"');
    expect(text).toContain('\n19\t\t\t209\n');
    expect(text).toContain('rows left out');
    expect(text).toContain('https://api.example.com/users/ana/profile');
    expect(text).not.toMatch(/\$\d/);
  });
});

test(`${DOCUMENTS} documents are read back as they were`, () => {
  let found = 0;
  fc.assert(
    fc.property(fc.oneof(records, records, json), (text) => {
      const tree = parseTree(text)!;
      for (const encoded of packedForms(tree, minifyJson(text))) {
        if (/^Let|^JSON with tables/.test(encoded)) found++;
        const decoded = decodePacked(encoded);
        expect(decoded !== undefined && sameTree(tree, decoded)).toBe(true);
      }
    }),
    { numRuns: DOCUMENTS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
  );
  expect(found).toBeGreaterThan(DOCUMENTS / 20);
}, 3_600_000);

test('a reader that knows only what the text says of itself has at most 60 lines', () => {
  const reader = readFileSync(new URL('../../test/packed/reader.ts', import.meta.url), 'utf8');
  expect(reader.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});
