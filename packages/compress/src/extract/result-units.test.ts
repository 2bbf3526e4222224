import { describe, expect, test } from 'vitest';
import { segmentsOf } from '../blocks/segments.ts';
import { compress } from '../compress.ts';
import { unitsOf } from './units.ts';

const names = ['Orca', 'Lynx', 'Heron', 'Otter', 'Marten', 'Ibis', 'Tern', 'Stoat', 'Kite', 'Vole'];
const nameAt = (i: number): string => `${names[i % 10]}-${100 + i * 7}`;
const many = (count: number, write: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => write(i)).join('\n');

const boxes = (statements: number, rows: number): string =>
  many(
    statements,
    (at) => `mysql> SELECT id, name, berth
    -> FROM boats
    -> WHERE harbour = ${at};
+------+------------+-------+
| id   | name       | berth |
+------+------------+-------+
${many(rows, (i) => `| ${String(i).padStart(4)} | ${nameAt(at * rows + i).padEnd(10)} | ${String(i * 3).padEnd(5)} |`)}
+------+------------+-------+
${rows} rows in set (0.00 sec)
`,
  );
const psql = (statements: number, rows: number): string =>
  many(
    statements,
    (at) => `port=# SELECT id, name, berth
port-#   FROM boats
port-#  WHERE harbour = ${at};
 id |    name    | berth
----+------------+-------
${many(rows, (i) => ` ${String(i).padStart(2)} | ${nameAt(at * rows + i).padEnd(10)} | ${i * 3}`)}
(${rows} rows)
`,
  );
const vertical = (records: number): string => `mysql> SELECT * FROM boats\\G
${many(records, (i) => `*************************** ${i + 1}. row ***************************\n   id: ${i}\n name: ${nameAt(i)}\nberth: ${i * 3}`)}
${records} rows in set (0.00 sec)
`;
const expanded = (records: number): string => `port=# \\x
Expanded display is on.
port=# SELECT * FROM boats;
${many(records, (i) => `-[ RECORD ${i + 1} ]-------\nid    | ${i}\nname  | ${nameAt(i)}\nberth | ${i * 3}`)}
`;
const bare = (statements: number, rows: number): string =>
  many(
    statements,
    (at) => `SELECT id,
       name,
       berth
  FROM boats
 WHERE harbour = ${at};

 id |    name    | berth
----+------------+-------
${many(rows, (i) => ` ${String(i).padStart(2)} | ${nameAt(at * rows + i).padEnd(10)} | ${i * 3}`)}
(${rows} rows)
`,
  );
const columns = (rows: number): string => `sqlite> .mode column
sqlite> select id, name, berth from boats;
id    name        berth
----  ----------  -----
${many(rows, (i) => `${String(i).padEnd(4)}  ${nameAt(i).padEnd(10)}  ${i * 3}`)}
`;

const bareTabs = (statements: number): string =>
  many(
    statements,
    (at) => `create table harbour${at} (id int, name varchar(20), berth int);
insert into harbour${at} values (1, 'x', 2);
select id, name, berth from boats where harbour = ${at};
id\tname\tberth
${many(3, (i) => `${i}\t${nameAt(at * 3 + i)}\t${i * 3}`)}
drop table harbour${at};`,
  );

const sessions: [string, string][] = [
  ['boxes of mysql', boxes(6, 12)],
  ['many statements with short results', boxes(24, 3)],
  ['psql', psql(6, 12)],
  ['psql without its prompts', bare(8, 8)],
  ['records of mysql', vertical(50)],
  ['records of psql', expanded(50)],
  ['columns of sqlite', columns(60)],
  ['cells between tabs', bareTabs(24)],
];

describe.each(sessions)('a session with %s', (_name, text) => {
  test('is no code', () => {
    expect(segmentsOf(text).map(({ kind }) => kind)).toStrictEqual(['table']);
  });

  test.each([0.5, 0.25, 0.15])('keeps the row that is asked for within %s of its tokens', (budget) => {
    const asked = [.../[A-Z]\w+-\d{3}\b/g[Symbol.matchAll](text)].map(([name]) => name);
    const name = asked[Math.floor(asked.length / 2)] ?? '';
    const { account, messages } = compress(
      [
        { role: 'tool', tool_call_id: 'call_1', content: text },
        { role: 'user', content: `At which berth is ${name}?` },
      ],
      { tier: 'extractive', budget },
    );
    const sent = JSON.stringify(messages[0]);
    expect(account.tokens_after).toBeLessThanOrEqual(Math.floor(account.tokens_before * budget));
    expect(sent).toContain(name);
    expect(sent).toContain('berth');
    expect(sent).toMatch(/FROM boats|from boats/);
  });
});

test('a row stands under the names of its columns, and these under the statement', () => {
  const text = boxes(2, 2);
  const units = unitsOf('table', text);
  const of = (at: number | undefined): string | undefined => {
    const unit = units.find(({ start }) => start === at);
    return unit && text.slice(unit.start, unit.end);
  };
  const row = units.find(({ start, end }) => text.slice(start, end).includes(nameAt(3)));
  const head = units.find(({ start }) => start === row?.under);
  expect(of(head?.start)).toBe(
    '+------+------------+-------+\n| id   | name       | berth |\n+------+------------+-------+\n',
  );
  expect(of(head?.under)).toBe(
    'mysql> SELECT id, name, berth\n    -> FROM boats\n    -> WHERE harbour = 1;\n',
  );
});

test('a table in prose stands under the line that announces it', () => {
  const text = `Boats leave at eight. They return at ten, unless the wind is strong.\n\nThese are the boats:\n id | name\n----+------\n${many(40, (i) => ` ${i} | ${nameAt(i)}`)}\n`;
  const units = unitsOf('prose', text);
  const row = units.find(({ start, end }) => text.slice(start, end).includes(nameAt(30)));
  expect(text.slice(row?.under)).toMatch(/^ id \| name\n/);
});

test('a statement whose result follows in prose is not frozen', () => {
  const text = many(
    8,
    (at) => `The harbour with the number ${at} is asked for its boats, as the manual says.

SELECT id,
       name,
       berth
  FROM boats
 WHERE harbour = ${at};

 id |    name    | berth
----+------------+-------
${many(9, (i) => ` ${String(i).padStart(2)} | ${nameAt(at * 9 + i).padEnd(10)} | ${i * 3}`)}

`,
  );
  expect(new Set(segmentsOf(text).map(({ kind }) => kind))).toStrictEqual(new Set(['prose']));
  const units = unitsOf('prose', text);
  const of = (at: number | undefined): string => text.slice(at, units.find(({ start }) => start === at)?.end);
  const row = units.find(({ start, end }) => text.slice(start, end).includes(nameAt(30)));
  const head = units.find(({ start }) => start === row?.under);
  expect(of(head?.start)).toMatch(/^ id \|.*\n-+\+[-+]+\n$/);
  expect(of(head?.under)).toMatch(/^SELECT[^;]*harbour = 3;\n/);
});

test('a fence of SQL is code, unless it has results too', () => {
  const fenced = (text: string): string => `Boats are listed so.\n\n\`\`\`sql\n${text}\n\`\`\`\n`;
  const script = many(6, (i) => `INSERT INTO boats\nVALUES (${i}, 'x');`);
  const kindsOf = (text: string): string[] => [...new Set(segmentsOf(text).map(({ kind }) => kind))];
  expect(kindsOf(fenced(script))).toContain('code');
  expect(kindsOf(fenced(boxes(2, 4)))).not.toContain('code');
  expect(kindsOf(script)).toStrictEqual(['code']);
});
