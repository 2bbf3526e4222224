import { asked, type Case } from './case.ts';
import { generator, many, pick, type Random, shuffled } from './random.ts';

type Row = Readonly<Record<string, string | number | boolean>>;

/** A listing by a tool: its rows, and questions about a row, each with the fields that answer it. */
interface Listing {
  readonly name: string;
  readonly row: (random: Random, i: number) => Row;
  readonly questions: readonly {
    readonly text: (row: Row) => string;
    readonly gold: readonly string[];
  }[];
}

const digits = (random: Random, n: number): string => many(n, () => Math.floor(random() * 10)).join('');
const words = (list: string): string[] => list.split(' ');
const given = words(
  'Asta Bruno Celine Dario Edith Fabio Gesa Henk Ilona Jarek Katja Lorenz Milena Nils Olga Pavel Quirin Rosa Selim Tilda',
);
const family = words(
  'Amsel Brodsky Castell Dornan Esposito Falk Grünwald Haller Ito Jansson Kowal Lund Moreau Nagy Oduya Petrov',
);
const cities = words('Bremen Cork Delft Espoo Faro Ghent Haifa Izmir Jena Kaunas Lugano Malmö Nantes Oulu');
const goods = words(
  'kettle drill ladder blanket lamp compass tarpaulin stove bucket whistle rope tent axe funnel',
);
const makes = words('folding steel copper heavy portable red waterproof spare wooden insulated');
const date = (r: Random): string =>
  `202${3 + Math.floor(r() * 4)}-${String(1 + Math.floor(r() * 12)).padStart(2, '0')}-${String(1 + Math.floor(r() * 28)).padStart(2, '0')}`;

const listings: readonly Listing[] = [
  {
    name: 'staff',
    row: (r, i) => ({
      id: `E-${1000 + i}`,
      name: `${given[i % given.length]} ${family[(i * 7) % family.length]}${i >= 80 ? '-Roth' : ''}`,
      team: pick(r, words('billing platform legal support research')),
      city: pick(r, cities),
      phone: `+49 30 ${digits(r, 7)}`,
      hired: date(r),
      remote: r() < 0.4,
    }),
    questions: [
      { text: ({ name }) => `What is ${name}'s telephone extension?`, gold: ['name', 'phone'] },
      { text: ({ name }) => `When did ${name} join the company?`, gold: ['name', 'hired'] },
      { text: ({ phone }) => `Whose number is ${phone}?`, gold: ['name', 'phone'] },
      { text: ({ id }) => `In which office does employee ${id} work?`, gold: ['id', 'city'] },
    ],
  },
  {
    name: 'stock',
    row: (r, i) => ({
      sku: `${pick(r, words('KX LM PQ ZT'))}-${20000 + i * 37}`,
      item: `${makes[i % makes.length]} ${goods[Math.floor(i / makes.length) % goods.length]}`,
      warehouse: pick(r, cities),
      quantity: Math.floor(r() * 900),
      price: `${1 + Math.floor(r() * 200)}.${digits(r, 2)}`,
      restocked: date(r),
    }),
    questions: [
      { text: ({ item }) => `How many of the ${item} are left in stock?`, gold: ['item', 'quantity'] },
      { text: ({ sku }) => `What does article ${sku} cost?`, gold: ['sku', 'price'] },
      { text: ({ item }) => `Where is the ${item} stored?`, gold: ['item', 'warehouse'] },
    ],
  },
  {
    name: 'tickets',
    row: (r, i) => ({
      key: `OPS-${400 + i}`,
      title: `${pick(r, words('Crash Timeout Delay Typo Leak'))} in ${pick(r, words('checkout search login export invoice upload'))} for ${pick(r, words('guests admins partners resellers auditors'))} (${given[i % given.length]}’s report ${digits(r, 4)})`,
      state: pick(r, words('open closed waiting rejected')),
      assignee: `${pick(r, given)} ${pick(r, family)}`,
      opened: date(r),
      votes: Math.floor(r() * 60),
    }),
    questions: [
      { text: ({ key }) => `Who is working on ${key}?`, gold: ['key', 'assignee'] },
      { text: ({ key }) => `What is the status of ticket ${key}?`, gold: ['key', 'state'] },
      {
        text: ({ title }) => `Who takes care of the ${String(title).toLowerCase()}?`,
        gold: ['title', 'assignee'],
      },
    ],
  },
];

const styles: Readonly<Record<string, (rows: readonly Row[], name: string) => string>> = {
  json: (rows, name) => JSON.stringify({ count: rows.length, [name]: rows }, null, 2),
  jsonl: (rows) => rows.map((row) => JSON.stringify(row)).join('\n'),
  nested: (rows, name) =>
    JSON.stringify({
      [name]: rows.map(({ ...row }, i) => ({
        ...row,
        meta: { tags: i % 3 === 0 ? ['a', 'b'] : [], rank: i, ...(i % 4 === 1 && { note: 'checked' }) },
      })),
    }),
  csv: (rows) => lines(rows, (cells) => cells.join(',')).join('\n'),
  markdown: (rows) => {
    const [head = '', ...rest] = lines(rows, (cells) => `| ${cells.join(' | ')} |`);
    return [head, head.replaceAll(/[^|]+/g, ' --- '), ...rest].join('\n');
  },
};

function lines(rows: readonly Row[], join: (cells: readonly string[]) => string): string[] {
  return [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(String))].map(join);
}

interface Made {
  readonly name: string;
  readonly style: string;
  readonly text: string;
  readonly questions: readonly Pick<Case, 'query' | 'gold' | 'near'>[];
}

function made(random: Random, { name, row, questions }: Listing, style: string, size: number): Made {
  const rows = many(size, (i) => row(random, i));
  return {
    name,
    style,
    text: styles[style]?.(rows, name) ?? '',
    questions: questions.map(({ text, gold }) => {
      const one = pick(random, rows);
      const [first = '', ...near] = gold.map((field) => String(one[field]));
      return { query: text(one), gold: [first], near };
    }),
  };
}

/** Makes listings of a tool, with questions about single rows. */
export function recordCases(seed: number, count: number): Case[] {
  const random = generator(seed);
  return many(count, (n) =>
    listings.flatMap((listing) =>
      Object.keys(styles).flatMap((style) => {
        const { text, questions, name } = made(random, listing, style, 60 + Math.floor(random() * 90));
        return questions.map(({ query, gold, near }) => ({
          ...asked(`records/${style}`, `${n} ${name} ${query}`, text, query, gold),
          near,
        }));
      }),
    ),
  ).flat();
}

/** Makes traces of what an agent read: listings and the texts of `others`, with questions about any of them. */
export function traceCases(seed: number, count: number, others: readonly Case[]): Case[] {
  const random = generator(seed);
  return many(count, (n) => {
    const read = shuffled(random, others).slice(0, 4);
    const lists = shuffled(random, listings)
      .slice(0, 2)
      .map((listing) =>
        made(random, listing, pick(random, Object.keys(styles)), 25 + Math.floor(random() * 40)),
      );
    const results = shuffled(random, [
      ...read.map(({ messages }) => messages[0]?.content as string),
      ...lists.map(({ text }) => text),
    ]);
    const messages = [
      { role: 'system', content: 'You are an agent with tools. Answer from what they return.' },
      { role: 'user', content: 'Gather all that we have on last week, then I will ask.' },
      ...results.flatMap((content, i) => [
        { role: 'assistant', content: `Reading the ${i + 1}. source.` },
        { role: 'tool', tool_call_id: `call_${i}`, content },
      ]),
    ];
    const questions = [...read, ...lists.flatMap(({ questions: own }) => own.slice(0, 2))];
    return questions.map(({ query, gold, near }) => ({
      near,
      set: 'traces',
      fact: `${n} ${query}`,
      messages: [...messages, { role: 'user', content: query }],
      query,
      gold,
    }));
  }).flat();
}
