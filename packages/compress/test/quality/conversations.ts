import { readFileSync } from 'node:fs';
import { asked, type Case } from './case.ts';
import { generator, many, pick, type Random, shuffled } from './random.ts';

/** A few turns that tell something, and questions on it with the turns that answer them. */
interface Scene {
  readonly id: string;
  readonly turns: readonly string[];
  readonly questions: readonly { readonly text: string; readonly gold: readonly number[] }[];
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8').trim();

function scenesOf(name: string): Scene[] {
  return read(name)
    .split(/\n\n+/)
    .map((block, i) => {
      const lines = block.split('\n');
      const questions = lines.flatMap((line) => {
        const [, text = '', gold = ''] = /^\? (.*) \| ([\d,]+)$/.exec(line) ?? [];
        return text === '' ? [] : [{ text, gold: gold.split(',').map((n) => Number(n) - 1) }];
      });
      return { id: `${name}/${i}`, turns: lines.filter((line) => !line.startsWith('?')), questions };
    });
}

/** Files of scenes: the ranking is tuned on the questions of one half, and confirmed on those of the other. */
export const halves = {
  tune: ['scenes-1.txt', 'scenes-3.txt'],
  confirm: ['scenes-2.txt', 'scenes-4.txt'],
} as const;

const scenes = [...halves.tune, ...halves.confirm].flatMap(scenesOf);
/** Minimum and maximum number of scenes in a conversation. */
const SCENES = [30, 70] as const;
const chatter = read('chatter.txt').split('\n');
const names =
  'Mira Tobias Leonie Farid Hanna Viktor Noor Emil Greta Samir Paula Jonas Ingrid Marek Yusuf Clara'.split(
    ' ',
  );
const months = 'January February March April May June July August September October November December'.split(
  ' ',
);

interface Turn {
  readonly speaker: string;
  readonly text: string;
}
interface Session {
  readonly date: string;
  readonly turns: Turn[];
}

type Shape = (sessions: readonly Session[], a: string, b: string) => string;

const time = (random: Random): string =>
  `${1 + Math.floor(random() * 12)}:${10 + Math.floor(random() * 49)} ${pick(random, ['am', 'pm'])}`;

export const shapes: Readonly<Record<string, Shape>> = {
  lines: (sessions) =>
    sessions
      .map(
        ({ date, turns }, i) =>
          `Session ${i + 1} (${date})\n${turns.map(({ speaker, text }) => `${speaker}: ${text}`).join('\n')}`,
      )
      .join('\n\n'),
  bare: (sessions) =>
    sessions.flatMap(({ turns }) => turns.map(({ speaker, text }) => `${speaker}: ${text}`)).join('\n'),
  stamped: (sessions) =>
    sessions
      .flatMap(({ date, turns }) => turns.map(({ speaker, text }) => `[${date}] ${speaker}: ${text}`))
      .join('\n'),
  said: (sessions) =>
    sessions
      .map(
        ({ date, turns }) =>
          `DATE: ${date}\nCONVERSATION:\n${turns.map(({ speaker, text }) => `${speaker} said, "${text}"`).join('\n')}`,
      )
      .join('\n\n'),
  json: (sessions) =>
    JSON.stringify(
      sessions.flatMap(({ date, turns }, s) =>
        turns.map(({ speaker, text }, i) => ({ id: `D${s + 1}:${i + 1}`, date, speaker, text })),
      ),
      null,
      1,
    ),
  nested: (sessions, a, b) =>
    JSON.stringify({
      speaker_a: a,
      speaker_b: b,
      sessions: sessions.map(({ date, turns }, s) => ({
        date,
        turns: turns.map(({ speaker, text }, i) =>
          i % 7 === 3
            ? { id: `${s}:${i}`, speaker, text, image: ['a.png'] }
            : { id: `${s}:${i}`, speaker, text },
        ),
      })),
    }),
  chat: (sessions, a) =>
    sessions
      .map(
        ({ date, turns }) =>
          `### ${date}\n\n${turns.map(({ speaker, text }) => `**${speaker === a ? 'User' : 'Assistant'}:** ${text}`).join('\n\n')}`,
      )
      .join('\n\n'),
};

/** Makes conversations of two people over many sessions, with questions about the facts of some files of scenes. */
export function conversations(
  seed: number,
  count: number,
  only: readonly string[],
  askedOf: readonly string[],
): Case[] {
  const random = generator(seed);
  return many(count, () => conversation(random, only, askedOf)).flat();
}

function conversation(random: Random, only: readonly string[], askedOf: readonly string[]): Case[] {
  const [a = '', b = ''] = shuffled(random, names);
  const told = shuffled(random, scenes).slice(0, SCENES[0] + Math.floor(random() * (SCENES[1] - SCENES[0])));
  const roles = new Map(told.map(({ id }) => [id, random() < 0.5]));
  const sessions: Session[] = [];
  let day = Math.floor(random() * 20);
  for (let at = 0; at < told.length; ) {
    const own = told.slice(at, (at += 2 + Math.floor(random() * 3)));
    day += 3 + Math.floor(random() * 12);
    const date = `${time(random)} on ${1 + (day % 28)} ${months[Math.floor(day / 28) % 12]}, ${2022 + Math.floor(day / 336)}`;
    const turns = own.flatMap((scene) => [
      ...small(random, a, b),
      ...scene.turns.map((line) => turn(line, roles.get(scene.id) === true, a, b, around(random))),
    ]);
    sessions.push({ date, turns: [...turns, ...small(random, a, b)] });
  }
  return only.flatMap((shape) => {
    const text = shapes[shape]?.(sessions, a, b) ?? '';
    const ours = told.filter(({ id }) => askedOf.some((file) => id.startsWith(file)));
    return ours.flatMap(({ id, turns, questions }) =>
      questions.map(({ text: question, gold }) => {
        const swap = roles.get(id) === true;
        const query = filled(question, swap, a, b)
          .replaceAll(shape === 'chat' ? a : '\0', 'the user')
          .replaceAll(shape === 'chat' ? b : '\0', 'the assistant');
        const own = gold.map((n) => turn(turns[n] ?? '', swap, a, b).text);
        return asked(`conversation/${shape}`, `${id}?${question}`, text, query, own);
      }),
    );
  });
}

const filled = (text: string, swap: boolean, a: string, b: string): string =>
  text.replaceAll('{A}', swap ? b : a).replaceAll('{B}', swap ? a : b);

function turn(line: string, swap: boolean, a: string, b: string, [before, after] = ['', '']): Turn {
  const first = line.startsWith('A') !== swap;
  return { speaker: first ? a : b, text: filled(`${before}${line.slice(3)}${after}`, swap, a, b) };
}

/** Small talk before and after the fact of a turn. */
function around(random: Random): [string, string] {
  const before = random() < 0.3 ? `${pick(random, chatter)} ` : '';
  return [before, random() < 0.3 ? ` ${pick(random, chatter)}` : ''];
}

function small(random: Random, a: string, b: string): Turn[] {
  const start = random() < 0.5;
  return many(Math.floor(random() * 4), (i) => {
    const swap = (i % 2 === 0) === start;
    const lines = many(1 + Math.floor(random() * 2), () => pick(random, chatter));
    return { speaker: swap ? b : a, text: filled(lines.join(' '), swap, a, b) };
  });
}
