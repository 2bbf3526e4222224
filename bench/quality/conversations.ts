import { BUDGETS, type Case, checked, type Document, fetched, type Gold, pasted } from './document.ts';
import { Random } from './random.ts';
import { namesIn, type Question, read, splitQuestions } from './sources.ts';

interface Turn {
  readonly speaker: string;
  readonly text: string;
  readonly id: string | undefined;
}

interface Session {
  readonly date: string;
  readonly time: string;
  /** Stretches on one topic each; small talk is placed between them, never within. */
  readonly topics: readonly (readonly Turn[])[];
}

interface Conversation {
  readonly name: string;
  readonly title: string;
  readonly sessions: readonly Session[];
  readonly questions: readonly Question[];
}

/** Number of exchanges of small talk between the topics, by conversation; those of strangers have none. */
const SMALL_TALK: Readonly<Record<string, number>> = {
  'maya-tom': 96,
  family: 72,
  'release-channel': 44,
  renovation: 18,
  band: 66,
  campaign: 30,
  founders: 40,
  allotment: 84,
  langtandem: 34,
};

/** Ways in which an export dates its turns. */
const STYLES = ['headings', 'sessions', 'stamps'] as const;
type Style = (typeof STYLES)[number];

/** A text, its facts by their ids, and its questions. */
export interface Marked {
  readonly text: string;
  readonly gold: ReadonlyMap<string, Gold>;
  readonly questions: readonly Question[];
  readonly headings: readonly string[];
}

export function conversationDocuments(): Document[] {
  const all = namesIn('conversations').map(({ name, path }) => parse(name, read(path)));
  const filled = all.map(withSmallTalk);
  const alone = filled.flatMap((one, i) => [transcriptDocument(one, i), turnsDocument(one)]);
  return [...alone, ...archives(filled)].map(checked);
}

/** A conversation without small talk, as a file to be read. */
export function conversationText(name: string): Marked {
  return transcript(parse(name, read(`conversations/${name}.md`)), 'headings');
}

function parse(name: string, text: string): Conversation {
  const { body, questions } = splitQuestions(text);
  const [head = '', ...parts] = body.split('\n## ');
  const sessions = parts.map((part) => {
    const [first = '', ...lines] = part.split('\n');
    const [date = '', time = ''] = first.split(' ');
    return { date, time, topics: topicsOf(lines) };
  });
  return { name, title: head.replace(/^# /, '').trim(), sessions, questions };
}

function topicsOf(lines: readonly string[]): Turn[][] {
  return lines
    .join('\n')
    .trim()
    .split(/\n\n+/)
    .map((topic) => topic.split('\n').map(turnOf));
}

function turnOf(line: string): Turn {
  const match = /^([^:[]+?)(?: \[([\w-]+)\])?: (.*)$/.exec(line);
  if (match === null) throw new Error(`No turn: ${line}`);
  return { speaker: match[1] ?? '', id: match[2], text: match[3] ?? '' };
}

function withSmallTalk(conversation: Conversation): Conversation {
  const { name, sessions } = conversation;
  const random = new Random(name);
  const pool = random.shuffled(topicsOf(read('chatter.md').split('\n'))).slice(0, SMALL_TALK[name] ?? 0);
  const speakers = [
    ...new Set(sessions.flatMap(({ topics }) => topics.flat().map(({ speaker }) => speaker))),
  ];
  const gaps = sessions.flatMap(({ topics }, session) => topics.map((_, topic) => `${session}/${topic}`));
  const placed = Map.groupBy(pool, () => random.pick(gaps));
  return {
    ...conversation,
    sessions: sessions.map((session, at) => ({
      ...session,
      topics: session.topics.flatMap((topic, i) => {
        const talk = (placed.get(`${at}/${i}`) ?? []).map((exchange) => spoken(exchange, speakers, random));
        return random.next() < 0.5 ? [topic, ...talk] : [...talk, topic];
      }),
    })),
  };
}

/** Replaces A and B in an exchange by two of the people present. */
function spoken(exchange: readonly Turn[], speakers: readonly string[], random: Random): Turn[] {
  const [a = 'A', b = 'B'] = random.shuffled(speakers);
  return exchange.map((turn) => ({ ...turn, speaker: turn.speaker === 'A' ? a : b }));
}

const long = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });

function headingOf({ date, time }: Session, index: number, style: Style): string {
  const day = long.format(new Date(`${date}T00:00:00Z`)).replace(',', '');
  return style === 'headings' ? `## ${day}` : `Session ${index + 1} (${day}, ${time})`;
}

function transcript({ sessions, questions }: Conversation, style: Style): Marked {
  const gold = new Map<string, Gold>();
  const lines: string[] = [];
  const headings: string[] = [];
  for (const [index, session] of sessions.entries()) {
    const heading = style === 'stamps' ? undefined : headingOf(session, index, style);
    if (heading !== undefined) {
      headings.push(heading);
      lines.push('', heading, '');
    }
    for (const [turn, { speaker, text, id }] of session.topics.flat().entries()) {
      const minute = Number(session.time.slice(3)) + turn;
      const clock = `${String((Number(session.time.slice(0, 2)) + Math.floor(minute / 60)) % 24).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
      lines.push(`${style === 'stamps' ? `[${session.date} ${clock}] ` : ''}${speaker}: ${text}`);
      if (id !== undefined) gold.set(id, { text, heading });
    }
  }
  return { text: `${lines.join('\n').trim()}\n`, gold, questions, headings };
}

function transcriptDocument(conversation: Conversation, index: number): Document {
  const { name, title } = conversation;
  const marked = transcript(conversation, STYLES[index % STYLES.length] ?? 'headings');
  const id = `conversations/${name}`;
  return {
    id,
    modality: 'dialogue',
    messages: pasted(`This is the export of “${title}”.`, marked.text),
    cases: casesOf(id, name, marked),
    budgets: BUDGETS,
    headings: marked.headings,
  };
}

/** The same conversation as a tool would return it: a list of turns. */
function turnsDocument(conversation: Conversation): Document {
  const { name, sessions } = conversation;
  const turns = sessions.flatMap(({ date, topics }, session) =>
    topics
      .flat()
      .map(({ speaker, text }, turn) => ({ id: `D${session + 1}:${turn + 1}`, date, speaker, text })),
  );
  const id = `conversations/${name}.json`;
  const { gold, questions } = transcript(conversation, 'stamps');
  return {
    id,
    modality: 'dialogue as JSON',
    messages: fetched('read_history', [JSON.stringify(turns, null, 2)]),
    cases: casesOf(id, name, { gold, questions }),
    budgets: BUDGETS,
    headings: [],
  };
}

/** Number of conversations in an archive; every `asks`-th question about them is asked. */
const ARCHIVES = [
  { size: 4, asks: 3 },
  { size: 12, asks: 12 },
];

function archives(all: readonly Conversation[]): Document[] {
  return ARCHIVES.flatMap(({ size, asks }) =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
      archive(`archives/${size}-${i + 1}`, all.slice(i * size, (i + 1) * size), asks),
    ),
  );
}

function archive(id: string, own: readonly Conversation[], asks: number): Document {
  const parts = own.map((one) => ({ ...one, marked: transcript(one, 'headings') }));
  const texts = parts.map(({ title, marked }) => `# ${title}\n\n${marked.text}`);
  return {
    id,
    modality: 'dialogue',
    messages: pasted('Below are the conversations on the old telephone.', texts.join('\n')),
    cases: parts.flatMap(({ name, marked }) => casesOf(id, name, marked).filter((_, i) => i % asks === 1)),
    budgets: BUDGETS,
    headings: parts.flatMap(({ marked }) => marked.headings),
  };
}

/** The cases of a marked text: its questions with their facts. */
export function casesOf(
  document: string,
  source: string,
  { questions, gold }: Pick<Marked, 'questions' | 'gold'>,
): Case[] {
  return questions.map(({ kind, refs, question, wording }, i) => ({
    id: `${document}#${source}-${i + 1}`,
    kind,
    question,
    wording,
    source,
    gold: refs.map((ref) => {
      const found = gold.get(ref);
      if (found === undefined) throw new Error(`${source} has no fact ${ref}.`);
      return found;
    }),
  }));
}
