import { readdirSync, readFileSync } from 'node:fs';
import { asked, type Case } from './case.ts';
import { generator, many, pick, type Random, shuffled } from './random.ts';

const CORPUS = new URL('../../../../bench/corpus/', import.meta.url);

/** Prose to hide a fact in: texts that change only by hand, unlike those of the installed packages. */
function haystacks(): string[] {
  return ['contracts', 'reports', 'conversations'].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, CORPUS))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => readFileSync(new URL(`${folder}/${name}`, CORPUS), 'utf8')),
  );
}

const digits = (random: Random, n: number): string => many(n, () => Math.floor(random() * 10)).join('');
const people = 'Odalys Ferrant,Kwame Tetteh,Sunniva Dahl,Rune Castellano,Priya Venn,Tomasz Wilk'.split(',');
const towns = 'Marrowby Tessaly Quenfort Dunhollow Astrel Vesperton Lorrin Kettlemere'.split(' ');

/** Facts, each with a question that words it in another way. */
const needles: readonly ((random: Random) => readonly [fact: string, question: string])[] = [
  (r) => [
    `The access code for the north archive is ${digits(r, 6)}.`,
    'Which code opens the northern archive?',
  ],
  (r) => [
    `${pick(r, people)} signed the lease on 14 March 2019 for a period of nine years.`,
    'When was the lease agreement signed?',
  ],
  (r) => [
    `Invoice INV-${digits(r, 5)} was paid twice and has to be refunded.`,
    'Which bill was settled two times?',
  ],
  (r) => [
    `The turbine at ${pick(r, towns)} produced ${digits(r, 3)}.${digits(r, 1)} megawatt hours in October.`,
    'How much energy did the turbine generate?',
  ],
  (r) => [
    `During the audit, ${pick(r, people)} found that the freezer had been set to minus four degrees.`,
    'Who noticed the wrong freezer temperature?',
  ],
  (r) => [
    `The spare key is kept under the third beehive behind the chapel of ${pick(r, towns)}.`,
    'Where is the spare key hidden?',
  ],
  (r) => [
    `Serial number ${digits(r, 4)}-XK-${digits(r, 3)} was recalled because of a faulty valve.`,
    'Why was the device recalled?',
  ],
  (r) => [
    `Orders above ${digits(r, 2)}0 crowns need the approval of two managers.`,
    'From which amount on must purchases be approved?',
  ],
  (r) => [
    `The best sandwich in ${pick(r, towns)} is sold at the petrol station, according to ${pick(r, people)}.`,
    'Where can one get the best sandwich?',
  ],
  (r) => [
    `The contract may be terminated with ninety days of notice, ${pick(r, people)} said.`,
    'What is the notice period for ending the agreement?',
  ],
  (r) => [
    `Ferry number ${digits(r, 2)} now leaves at 06:45 instead of 07:10.`,
    'At what time does the ferry depart?',
  ],
  (r) => [
    `The password of the staging database was changed to "heron-${digits(r, 4)}" last Tuesday.`,
    'What is the staging db password?',
  ],
];

export function needleCases(seed: number, count: number): Case[] {
  const random = generator(seed);
  const texts = haystacks();
  return many(count, (i) => {
    const paragraphs = shuffled(random, texts)
      .slice(0, 6)
      .join('\n\n')
      .split(/\n\s*\n/)
      .filter((p) => p.trim() !== '');
    const own = shuffled(random, needles)
      .slice(0, 3)
      .map((needle) => needle(random));
    for (const [fact] of own) {
      const at = Math.floor(random() * paragraphs.length);
      paragraphs[at] = `${paragraphs[at]?.trimEnd()} ${fact}`;
    }
    const text = paragraphs.join('\n\n');
    return own.map(([fact, question]) =>
      asked('needles', `${i % 20} ${question}`, text, question, [fact.slice(0, -1)]),
    );
  }).flat();
}

const adjectives = 'small old remote busy quiet prosperous'.split(' ');
const fill: readonly ((random: Random, name: string) => string)[] = [
  (r, n) => `${n} is known far beyond the region for its ${pick(r, adjectives)} market.`,
  (r, n) => `In ${1800 + Math.floor(r() * 200)}, a fire destroyed the archive of ${n}.`,
  (r) => `Critics have called the result ${pick(r, adjectives)} but sincere.`,
  (r, n) => `About ${Math.floor(r() * 90)} thousand people visit ${n} each year.`,
  (r) => `The records of that time are held in ${pick(r, towns)}.`,
  (r) => `It was restored in ${1900 + Math.floor(r() * 100)} after long debates.`,
];

/** Passages with titles, two of which answer only together. */
export function hopCases(seed: number, count: number): Case[] {
  const random = generator(seed);
  return many(count, (i) => hop(random, i)).flat();
}

function hop(random: Random, i: number): Case[] {
  const names = shuffled(random, firsts).flatMap((first) =>
    shuffled(random, lasts)
      .slice(0, 1)
      .map((last) => `${first} ${last}`),
  );
  const works = shuffled(random, titles);
  const places = shuffled(random, towns);
  const facts = many(8, (n) => {
    const [who = '', work = '', place = ''] = [names[n], works[n], places[n]];
    const born = `${who} was born in ${place} and studied law before turning to film.`;
    const directed = `The picture was directed by ${who}, whose earlier work had been ignored.`;
    const river = `The town lies on the river ${pick(random, rivers)} and has a ${pick(random, adjectives)} harbour.`;
    return { who, work, place, born, directed, river };
  });
  const around = (name: string, fact: string): string => {
    const others = shuffled(random, fill)
      .slice(0, 4)
      .map((make) => make(random, name));
    others.splice(Math.floor(random() * 4), 0, fact);
    return `${name}\n${others.join(' ')}`;
  };
  const passages = facts.flatMap(({ who, work, place, born, directed, river }) => [
    around(who, born),
    around(work, directed),
    around(place, river),
  ]);
  const text = shuffled(random, passages).join('\n\n');
  const [one] = facts;
  if (one === undefined) return [];
  return [
    asked('multi-hop/2', `${i} birthplace`, text, `Where was the director of ${one.work} born?`, [
      one.directed,
      one.born,
    ]),
    asked('multi-hop/2', `${i} river`, text, `Which river flows through the birthplace of ${one.who}?`, [
      one.born,
      one.river,
    ]),
    asked(
      'multi-hop/3',
      `${i} both`,
      text,
      `On which river is the home town of the person who made ${one.work}?`,
      [one.directed, one.born, one.river],
    ),
  ];
}

const firsts = 'Edda Ilmar Rosaura Gwendal Tamsin Otakar Yevgenia Lucan'.split(' ');
const lasts = 'Brandt Kessler Ovid Marchetti Lindqvist Abara'.split(' ');
const titles = [
  'The Glass Orchard',
  'Nine Lanterns',
  'A Winter Ledger',
  'Saltmarsh',
  'The Cartographer',
  'Low Tide',
  'Paper Crown',
  'Evening Freight',
];
const rivers = 'Ilse Morrow Tane Ybbs Calder Wend'.split(' ');

const services = 'checkout payments inventory gateway search mailer'.split(' ');
const noise: readonly ((r: Random) => string)[] = [
  (r) => `INFO [${pick(r, services)}] GET /api/v1/items/${digits(r, 4)} 200 ${digits(r, 2)}ms`,
  (r) => `INFO [${pick(r, services)}] POST /api/v1/cart/${digits(r, 5)} 201 ${digits(r, 3)}ms`,
  (r) => `DEBUG [${pick(r, services)}] cache hit ratio 0.${digits(r, 2)}`,
  (r) => `INFO [${pick(r, services)}] heartbeat ok, uptime ${digits(r, 5)} s`,
  (r) => `WARN [${pick(r, services)}] slow query took ${digits(r, 4)} ms`,
  (r) => `ERROR [mailer] could not deliver message ${digits(r, 6)}: mailbox full`,
];

interface Incident {
  readonly lines: readonly string[];
  readonly gold: readonly number[];
  readonly question: string;
}

const incidents: readonly ((r: Random) => Incident)[] = [
  (r) => ({
    lines: [
      `INFO [payments] configuration reloaded: pool.max=2 (was 40), by deploy ${digits(r, 4)}`,
      'WARN [payments] waiting for a connection since 5000 ms',
      'ERROR [checkout] upstream payments answered 503 after 3 attempts',
    ],
    gold: [0, 2],
    question: 'Why did the checkout fail, and what changed before?',
  }),
  (r) => ({
    lines: [
      `WARN [inventory] disk /var/lib/data is ${90 + Math.floor(r() * 9)}% full`,
      'ERROR [inventory] write failed: no space left on device',
      'INFO [inventory] switching to read-only mode',
    ],
    gold: [0, 1, 2],
    question: 'What happened to the inventory service?',
  }),
  (r) => ({
    lines: [
      `INFO [gateway] certificate for api.shop.test expires in 0 days`,
      `ERROR [gateway] TLS handshake failed: certificate has expired (client 10.0.${digits(r, 1)}.${digits(r, 2)})`,
    ],
    gold: [0, 1],
    question: 'What is the root cause of the TLS errors?',
  }),
  (r) => ({
    lines: [
      `INFO [search] rolled out version 4.${digits(r, 2)}.0`,
      'WARN [search] heap usage 97%, collection took 8421 ms',
      'FATAL [search] OutOfMemoryError: Java heap space\n    at index.Merge.run(Merge.java:88)\n    at java.lang.Thread.run(Thread.java:750)',
    ],
    gold: [0, 2],
    question: 'Which release brought the search down, and how?',
  }),
  (r) => ({
    lines: [`INFO [gateway] user u-${digits(r, 5)} locked after 10 attempts from 203.0.113.${digits(r, 2)}`],
    gold: [0],
    question: 'Which account was locked out, and from which address?',
  }),
];

export function logCases(seed: number, count: number): Case[] {
  const random = generator(seed);
  return many(count, (i) => {
    const make = incidents[i % incidents.length];
    const { lines, gold, question } = make?.(random) ?? { lines: [], gold: [], question: '' };
    const all = many(500, () => pick(random, noise)(random));
    let at = 100 + Math.floor(random() * 250);
    const stamped: string[] = [];
    for (const line of lines) {
      all.splice(at, 0, line);
      at += 1 + Math.floor(random() * 12);
    }
    for (const [n, line] of all.entries())
      stamped.push(
        `2026-05-04 08:${String(Math.floor(n / 60) % 60).padStart(2, '0')}:${String(n % 60).padStart(2, '0')},${digits(random, 3)} ${line}`,
      );
    return asked(
      'logs',
      `${i} ${question}`,
      stamped.join('\n'),
      question,
      gold.map((n) => lines[n] ?? ''),
    );
  });
}
