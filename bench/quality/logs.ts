import { casesOf, type Marked } from './conversations.ts';
import { BUDGETS, checked, type Document, fetched } from './document.ts';
import { Random } from './random.ts';
import { namesIn, readJson } from './sources.ts';

interface Line {
  readonly service: string;
  readonly level: string;
  readonly text: string;
}

interface Incident {
  readonly format: Format;
  readonly start: string;
  readonly seconds: number;
  /** Number of background lines. */
  readonly lines: number;
  readonly background: readonly (Line & { readonly weight: number })[];
  readonly events: readonly (Line & { readonly id: string; readonly at: number })[];
  readonly questions: readonly {
    readonly kind: string;
    readonly gold: string[];
    readonly question: string;
  }[];
}

export function logDocuments(): Document[] {
  return namesIn('incidents').map(({ name }) => {
    const id = `incidents/${name}`;
    const marked = incidentText(name);
    return checked({
      id,
      modality: 'logs',
      messages: fetched('read_logs', [marked.text]),
      cases: casesOf(id, name, marked),
      budgets: BUDGETS,
      headings: [],
    });
  });
}

/** The log of an incident: its events among everyday lines of the services. */
export function incidentText(name: string): Marked {
  const incident = readJson(`incidents/${name}.json`) as Incident;
  const { background, events, lines, seconds, start, format, questions } = incident;
  const random = new Random(`log ${name}`);
  const kinds = background.flatMap((line) => Array.from({ length: line.weight }, () => line));
  const noise = Array.from({ length: lines }, () => {
    const { service, level, text } = random.pick(kinds);
    return {
      at: random.next() * seconds,
      service: filled(service, random),
      level,
      text: filled(text, random),
    };
  });
  const all = [...noise, ...events].sort((a, b) => a.at - b.at);
  const text = all
    .map((line) => formats[format](new Date(Date.parse(start) + line.at * 1000), line))
    .join('\n');
  const gold = new Map(events.map((event) => [event.id, { text: event.text }]));
  const listed = questions.map(({ kind, gold: refs, question }) => ({
    kind,
    refs,
    question,
    wording: 'paraphrased' as const,
  }));
  return { text: `${text}\n`, gold, questions: listed, headings: [] };
}

const USERS = ['jansen', 'okoro', 'liu', 'petrov', 'garcia', 'meyer', 'tanaka', 'silva', 'dubois', 'novak'];

/** Fills the slots of a template with random values. */
function filled(template: string, random: Random): string {
  return template.replaceAll(/\{(n|d|ms|ip|hex|user)\}/g, (_, slot: string) => {
    if (slot === 'n') return String(random.integer(11, 99_999));
    if (slot === 'd') return String(random.integer(1, 9));
    if (slot === 'ms') return String(random.integer(2, 480));
    if (slot === 'user') return random.pick(USERS);
    if (slot === 'ip') return Array.from({ length: 4 }, () => random.integer(1, 254)).join('.');
    return random.integer(0x1000, 0xfffff).toString(16);
  });
}

const syslog = new Intl.DateTimeFormat('en-US', { month: 'short', timeZone: 'UTC' });
const two = (value: number): string => String(value).padStart(2, '0');
const clock = (at: Date): string => at.toISOString().slice(11, 19);

type Format = 'iso' | 'syslog' | 'bracket' | 'jsonl' | 'klog';

const formats: Readonly<Record<Format, (at: Date, line: Line) => string>> = {
  iso: (at, { level, service, text }) => `${at.toISOString()} ${level.padEnd(5)} ${service}: ${text}`,
  syslog: (at, { service, text }) =>
    `${syslog.format(at)} ${String(at.getUTCDate()).padStart(2)} ${clock(at)} db-orders-1 ${service}: ${text}`,
  bracket: (at, { level, service, text }) =>
    `[${at.toISOString().slice(0, 10)} ${clock(at)}] [${level}] ${service} - ${text}`,
  jsonl: (at, { level, service, text }) =>
    JSON.stringify({ ts: at.toISOString(), level, service, msg: text }),
  klog: (at, { level, service, text }) =>
    `${level}${two(at.getUTCMonth() + 1)}${two(at.getUTCDate())} ${clock(at)}.${String(at.getUTCMilliseconds()).padStart(3, '0')}000 4711 ${service}] ${text}`,
};
