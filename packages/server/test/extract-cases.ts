import type { Message } from '../../inference/src/local/conversation.ts';

/** A conversation and what must stand in its answer; null where nothing in it answers. */
export interface Case {
  readonly name: string;
  readonly messages: readonly Message[];
  readonly wants: string | null;
  /** Must not stand in it. */
  readonly spares?: string;
}

const user = (text: string): Message => ({ role: 'user', text });
const system = (text: string): Message => ({ role: 'system', text });
const tool = (text: string): Message => ({ role: 'tool', text });
const assistant = (text: string): Message => ({ role: 'assistant', text });

const bridge = `The Kessler Bridge crosses the River Orn at Dunmoor. It was designed by Dr. Ilse Marchetti, an engineer from Trieste.
Construction began in March 1931 and took four years. The bridge cost 2.4 million crowns, roughly 1.5 times the first estimate. It has three spans; the longest measures 212 metres. Because the river floods each spring, the piers stand on caissons sunk 18 m below the bed. A toll of 5 pence was charged until 1962. The first person to cross it was Mayor Tomas Reyle. Today about 30,000 vehicles use it every day.`;

const handbook = `# Employee handbook

## Leave
- Full-time staff have 26 days of paid leave a year.
- Parental leave is 18 weeks at full pay.
- Unused days lapse on 31 March of the following year.

## Expenses
Claims must reach finance within 30 days of the purchase. Meals are refunded up to 45 EUR per day. Send receipts to expenses@corvid.example. First-class rail travel needs approval from Priya Natarajan, head of operations.

## Equipment
Laptops are replaced every three years. Report a stolen laptop to the security desk on extension 4410 at once.`;

const log = `2026-02-03T09:14:07Z INFO  scheduler started with 8 workers
2026-02-03T09:14:09Z WARN  queue depth 1200 exceeds soft limit 1000
2026-02-03T09:15:31Z ERROR payment gateway timeout after 30000 ms (order 88213)
2026-02-03T09:16:02Z INFO  retry succeeded for order 88213
2026-02-03T09:20:00Z INFO  checkpoint written to /var/lib/app/cp-117`;

const code = `The client keeps a pool of connections.

\`\`\`ts
// Retries are limited by policy.maxAttempts.
export const policy = { maxAttempts: 5, baseDelayMs: 250 };
export function connect(url: string) {
  return pool.acquire(url, { timeout: 3_000 });
}
\`\`\`

Call \`connect()\` once per process. The pool closes idle sockets after 90 seconds.`;

const german = `Die Stadtbibliothek Elmenau wurde 1874 von Clara Wittig gegründet. Sie besitzt rund 120.000 Bände. Montags ist die Bibliothek geschlossen. Ein Ausweis kostet 12 Euro im Jahr.`;
const french = `Le musée de Varenne ouvre à 10 heures. Le billet coûte 9 euros pour les adultes. La collection fut donnée par Hélène Aubry en 1903. Le musée se trouve près de la gare.`;
const spanish = `El faro de Punta Brava mide 41 metros. Fue construido en 1898 por el ingeniero Luis Ordaz. El farero vive en la isla con su familia.`;
const chinese = `青岩桥建于1952年，由工程师陈立设计。桥长三百二十米。每天约有两万辆车通过。大桥每年春天检修一次。`;
const japanese = `緑川図書館は1987年に開館しました。館長は山本花子さんです。月曜日は休館日です。本は二週間借りられます。`;

const ask = (
  name: string,
  material: string,
  question: string,
  wants: string | null,
  spares?: string,
): Case => ({
  name,
  messages: [user(`${material}\n\n${question}`)],
  wants,
  ...(spares !== undefined && { spares }),
});

export const answerable: readonly Case[] = [
  ask('who', bridge, 'Who designed the Kessler Bridge?', 'Dr. Ilse Marchetti, an engineer from Trieste.'),
  ask('when', bridge, 'When did construction of the bridge begin?', 'March 1931'),
  ask('how much', bridge, 'How much did the bridge cost?', '2.4 million crowns', 'toll of 5 pence'),
  ask('how long', bridge, 'How long is the longest span?', '212 metres'),
  ask('why', bridge, 'Why do the piers stand on caissons?', 'the river floods each spring'),
  ask('who, another verb', bridge, 'Who was the first to cross?', 'Tomas Reyle'),
  ask('how many', bridge, 'How many vehicles use the bridge each day?', '30,000'),
  ask('where', bridge, 'Where does the bridge cross the River Orn?', 'Dunmoor'),
  ask('until when', bridge, 'Until when was a toll charged?', '1962'),
  ask('order, no question', bridge, 'Tell me what the toll was.', '5 pence'),
  {
    name: 'question first',
    messages: [user(`Who designed the Kessler Bridge?\n\n${bridge}`)],
    wants: 'Ilse Marchetti',
  },
  {
    name: 'labels and instructions',
    messages: [
      system('You are a helpful assistant. Answer the question using only the context.'),
      user(`Context: ${bridge}\n\nQuestion: When did the toll end?\nAnswer:`),
    ],
    wants: '1962',
  },
  {
    name: 'material in the system message',
    messages: [
      system(`You are the help desk of Corvid.\n\n${handbook}`),
      user('How many days of paid leave do I get?'),
    ],
    wants: '26 days',
  },
  ask('list item', handbook, 'How long is parental leave?', '18 weeks'),
  ask('synonym', handbook, 'How often are laptops replaced?', 'every three years'),
  ask('e-mail', handbook, 'What e-mail address do I send receipts to?', 'expenses@corvid.example'),
  ask('who, title', handbook, 'Who approves first-class rail travel?', 'Priya Natarajan'),
  ask('deadline', handbook, 'When do unused days lapse?', '31 March'),
  ask('phone', handbook, 'Which extension do I call about a stolen laptop?', '4410'),
  ask('log', log, 'What failed for order 88213?', 'payment gateway timeout'),
  ask('log, number', log, 'How many workers did the scheduler start with?', '8 workers'),
  ask('code', code, 'What is maxAttempts in the policy?', 'maxAttempts: 5'),
  ask('beside code', code, 'When does the pool close idle sockets?', 'after 90 seconds'),
  {
    name: 'tool result',
    messages: [
      user('What is the weather in Oslo?'),
      tool('Oslo: light snow, temperature -4 °C, wind 12 km/h.\nBergen: rain, temperature 3 °C.'),
      user('What is the temperature in Oslo?'),
    ],
    wants: '-4 °C',
    spares: 'Bergen',
  },
  {
    name: 'earlier turns',
    messages: [
      user('My sister Nadia moved to Porto in 2019. She works as a glazier.'),
      assistant('Noted.'),
      user('Where did my sister move?'),
    ],
    wants: 'Porto',
  },
  {
    name: 'leaning question',
    messages: [
      user(`${bridge}\n\nWho designed the Kessler Bridge?`),
      assistant('It was designed by Dr. Ilse Marchetti, an engineer from Trieste.'),
      user('And where is she from?'),
    ],
    wants: 'Trieste',
  },
  ask('German who', german, 'Wer hat die Stadtbibliothek gegründet?', 'Clara Wittig'),
  ask('German how much', german, 'Wie viel kostet ein Ausweis?', '12 Euro'),
  ask('French how much', french, 'Combien coûte le billet ?', '9 euros'),
  ask('French who', french, 'Qui a donné la collection ?', 'Hélène Aubry'),
  ask('Spanish when', spanish, '¿Cuándo fue construido el faro?', '1898'),
  ask('Chinese when', chinese, '青岩桥建于什么时候？', '1952年', '两万'),
  ask('Chinese how many', chinese, '每天有多少辆车通过？', '两万'),
  ask('Japanese who', japanese, '館長は誰ですか？', '山本花子'),
  ask('Japanese when', japanese, '図書館はいつ開館しましたか？', '1987年'),
];

export const unanswerable: readonly Case[] = [
  { name: 'nothing given', messages: [user('What is the capital of Peru?')], wants: null },
  { name: 'greeting', messages: [user('Hello')], wants: null },
  ask('another subject', bridge, 'What is the capital of Peru?', null),
  ask('right subject, unsaid', bridge, 'Who painted the Kessler Bridge green?', null),
  ask('unsaid amount', bridge, 'How many workers died building it?', null),
  ask('other person', handbook, 'What is the salary of Tomas Reyle?', null),
  ask('unsaid policy', handbook, 'Can I bring my dog to the office?', null),
  ask('log, unsaid', log, 'Which customer placed order 99999?', null),
  ask('German, unsaid', german, 'Wer leitet das Krankenhaus in Berlin?', null),
  ask('Chinese, unsaid', chinese, '谁是法国总统？', null),
  {
    name: 'instructions are no material',
    messages: [
      system('You are a helpful assistant. Answer questions about history.'),
      user('Who won the war of 1812?'),
    ],
    wants: null,
  },
];

/** Written after the rules, of which one (prices) was changed for them. Not all are answered right. */
const curie = `Marie Curie was born in Warsaw in 1867. She studied physics and mathematics at the Sorbonne. In 1903 she shared the Nobel Prize in Physics with her husband Pierre and Henri Becquerel. Pierre was killed in a street accident in 1906. She took over his chair, becoming the first woman to teach there. In 1911 she received a second Nobel Prize, this time in Chemistry, for isolating radium. She died of aplastic anaemia in 1934 near Sallanches.`;
const order = `Order #4471 was placed on 12 May by J. Okafor. It contains two kettles (model K-20) and one toaster. Shipping is free above $50. The parcel left the Leeds depot at 7:40 a.m. on Tuesday. Returns are accepted for 60 days if the box is unopened. The warranty covers motors for five years, but not cords. Contact support via help@kettleco.example or call 0113 496 0000.`;
const leaves = `Photosynthesis converts light energy into chemical energy. It takes place in chloroplasts, which contain chlorophyll. Water is split, releasing oxygen as a by-product. The Calvin cycle then fixes carbon dioxide into sugars. Plants appear green because chlorophyll reflects green light. The process is most efficient between 20 and 30 °C.`;
const migration = `The migration runs in three phases. Phase one copies tables while the old database stays writable. Phase two replays the change log until lag falls below 2 seconds. Phase three switches traffic and keeps the old database read-only for 14 days. Rollback is possible until phase three begins. Elena Vos owns the runbook; Marek Lind is on call. If checksums differ, the job halts and pages the on-call engineer.`;

export const unseen: readonly Case[] = (
  [
    [curie, 'Where was Marie Curie born?', 'Warsaw'],
    [curie, 'When did Curie die?', '1934'],
    [curie, 'Who shared the Nobel Prize with her?', 'Becquerel'],
    [curie, 'What did she isolate?', 'radium'],
    [curie, 'How did Pierre die?', 'street accident'],
    [curie, 'What did she study at the Sorbonne?', 'physics'],
    [curie, 'How many children did she have?', null],
    [curie, 'Who discovered penicillin?', null],
    [curie, 'What was her favourite food?', null],
    [curie, 'When did Pierre die?', '1906'],
    [order, 'Who placed the order?', 'Okafor'],
    [order, 'When did the parcel leave the depot?', '7:40'],
    [order, 'How long is the return window?', '60 days'],
    [order, 'What does the warranty cover?', 'motors'],
    [order, 'How long is the warranty?', 'five years'],
    [order, 'What is the phone number of support?', '0113'],
    [order, 'How many kettles are in the order?', 'two kettles'],
    [order, 'What colour is the toaster?', null],
    [order, 'Who is the chief executive of KettleCo?', null],
    [order, 'Is shipping free?', 'free above $50'],
    [order, 'Do you ship to Norway?', null],
    [leaves, 'Where does photosynthesis take place?', 'chloroplasts'],
    [leaves, 'Why do plants look green?', 'reflects green light'],
    [leaves, 'What gas is released?', 'oxygen'],
    [leaves, 'At what temperature is the process most efficient?', '20 and 30'],
    [leaves, 'What does the Calvin cycle do?', 'fixes carbon'],
    [leaves, 'Who discovered photosynthesis?', null],
    [migration, 'Who owns the runbook?', 'Elena Vos'],
    [migration, 'Who is on call?', 'Marek Lind'],
    [migration, 'How long is the old database kept read-only?', '14 days'],
    [migration, 'When is rollback possible?', 'until phase three'],
    [migration, 'What happens if checksums differ?', 'halts'],
    [migration, 'How many phases are there?', 'three phases'],
    [migration, 'How much does the migration cost?', null],
    [migration, 'Which cloud provider hosts the database?', null],
    [migration, 'What lag is required in phase two?', '2 seconds'],
  ] as const
).map(([material, question, wants]) => ({
  name: question,
  messages: [system(material), user(question)],
  wants,
}));
