import { embeddingOf } from '../packages/inference/src/local/embedding.ts';
import { readRoutingData } from '../scripts/routing/data.ts';
import { conversationText, type Marked } from './quality/conversations.ts';
import { contractText, reportText } from './quality/prose.ts';
import { namesIn } from './quality/sources.ts';
import type { Report, Row } from './report.ts';
import { unlessMissing } from './unless-missing.ts';

/** The passages of a text, and its questions with the indexes of the passages that answer them. */
interface Retrieval {
  readonly passages: readonly string[];
  readonly questions: readonly { readonly text: string; readonly answers: readonly number[] }[];
}

const PER_SUBJECT = 24;

/** Measures whether the built-in embedding model finds passages that answer a question, and texts on the same subject. */
export async function embedding(): Promise<Report> {
  const { found: ofSubjects, missing } = unlessMissing(subjects);
  const sentences = /\n+|(?<=[.!?])\s+(?=[A-Z])/;
  return {
    title: 'The embedding model local/embed-512',
    method: METHOD,
    rows: [
      ...retrieval('conversations', /\n+/, conversationText),
      ...retrieval('reports', sentences, reportText),
      ...retrieval('contracts', sentences, contractText),
      ...ofSubjects,
    ],
    missing,
  };
}

const METHOD = [
  'Questions of bench/corpus against the passages of their text: turns of a conversation, sentences of a report or contract,',
  'by cosine. Found first: the share of questions whose best passage answers. MRR: the mean of 1 / rank of the first that does.',
  `Subjects: the first lines of ${PER_SUBJECT} questions of each of MMLU’s 57 subjects; the share whose nearest other is of the same subject.`,
].join('\n');

function retrieval(part: string, between: RegExp, read: (name: string) => Marked): Row[] {
  const ranks = namesIn(part).flatMap(({ name }) => ranksIn(retrievalOf(read(name), between)));
  const row = (name: string, value: number): Row => ({ name: `${part}, ${name}`, value, unit: '' });
  return [
    row('questions', ranks.length),
    row('found first', mean(ranks.map((rank) => Number(rank === 1)))),
    row('MRR', mean(ranks.map((rank) => 1 / rank))),
  ];
}

function retrievalOf({ text, gold, questions: listed }: Marked, between: RegExp): Retrieval {
  const passages = text
    .split(between)
    .map((passage) => passage.trim())
    .filter((passage) => /[A-Za-z]{2}/.test(passage));
  const answersOf = (refs: readonly string[]): number[] =>
    refs.flatMap((id) => {
      const fact = gold.get(id)?.text;
      if (fact === undefined) return [];
      // A fact of several sentences spans several passages.
      const holds = (passage: string): boolean =>
        passage.includes(fact) || (passage.length > 20 && fact.includes(passage));
      return passages.flatMap((passage, index) => (holds(passage) ? [index] : []));
    });
  const questions = listed.map(({ question, refs }) => ({ text: question, answers: answersOf(refs) }));
  return { passages, questions: questions.filter(({ answers }) => answers.length > 0) };
}

/** The rank, from 1, of the best passage that answers each question. */
function ranksIn({ passages, questions }: Retrieval): number[] {
  const vectors = passages.map(vectorOf);
  return questions.map(({ text, answers }) => {
    const question = vectorOf(text);
    const scores = vectors.map((vector) => cosine(vector, question));
    const best = Math.max(...answers.map((index) => scores[index] ?? -1));
    return 1 + scores.filter((score) => score > best).length;
  });
}

function subjects(): Row[] {
  const bySubject = Map.groupBy(readRoutingData().mmlu, ({ subject }) => subject);
  const texts = [...bySubject].flatMap(([subject, examples]) => {
    const lines = examples
      .map(({ prompt }) => (prompt.split('\n')[0] ?? '').slice(0, 600))
      .filter((line) => /[A-Za-z]{3}/.test(line));
    const step = Math.max(1, Math.floor(lines.length / PER_SUBJECT));
    return lines
      .filter((_, at) => at % step === 0 && at < step * PER_SUBJECT)
      .map((text) => ({ subject, text }));
  });
  const start = performance.now();
  const vectors = texts.map(({ text }) => vectorOf(text));
  const seconds = (performance.now() - start) / 1000;
  const right = texts.filter(({ subject }, own) => texts[nearest(vectors, own)]?.subject === subject);
  return [
    { name: 'subjects, nearest is of the same', value: right.length / texts.length, unit: '' },
    { name: 'texts embedded, one core', value: texts.length / seconds, unit: '/s' },
  ];
}

function nearest(vectors: readonly Float32Array[], own: number): number {
  const vector = vectors[own] ?? new Float32Array();
  const scores = vectors.map((other, index) => (index === own ? -1 : cosine(other, vector)));
  return scores.indexOf(Math.max(...scores));
}

function vectorOf(text: string): Float32Array {
  const vector = embeddingOf(text);
  if (vector === null) throw new Error(`There is no embedding of ${JSON.stringify(text)}.`);
  return vector;
}

/** The cosine of two vectors of length 1. */
const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
