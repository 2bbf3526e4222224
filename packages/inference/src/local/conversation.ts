import { asksForSummary, isInstruction, isOrder, isQuestion } from './cues.ts';
import { type Span, splitSentences } from './sentences.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
}

/** A piece of the conversation, character for character. */
export interface Sentence extends Span {
  readonly message: number;
  readonly text: string;
}

export interface Task {
  readonly kind: 'answer' | 'summary';
  /** The question, or the request for a summary. */
  readonly question: string;
  /** The question before, which the question may refer to. */
  readonly before: string;
  readonly material: readonly Sentence[];
}

const mostAsked = 5;
/** Characters: a shorter message of at most two sentences is a question as a whole. */
const shortMessage = 300;

/** Divides a conversation into its last question and the material that can answer it. */
export function taskOf(messages: readonly Message[], isOwnAnswer: (text: string) => boolean): Task {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const sentences = messages.flatMap((message, index) =>
    message.role === 'assistant' && isOwnAnswer(message.text) ? [] : sentencesOf(message, index),
  );
  const own = sentences.filter(({ message }) => message === last);
  const question = questionIn(own);
  const isAsked = new Set(question);
  const material = sentences.filter(
    (sentence) => !isAsked.has(sentence) && isMaterial(sentence, messages, last),
  );
  const text = question.map(({ text }) => text).join(' ');
  const summary = question.length === 0 || asksForSummary(text);
  return {
    kind: summary ? 'summary' : 'answer',
    question: text,
    before:
      sentences.findLast(({ text, message, code }) => message < last && !code && isQuestion(text))?.text ??
      '',
    material: summary ? inMessage(material, last) : material,
  };
}

/** The text that comes with a request to summarise is what to summarise, unless it is only a heading. */
function inMessage(material: readonly Sentence[], message: number): readonly Sentence[] {
  const own = material.filter((sentence) => sentence.message === message);
  return own.some(({ text }) => text.length > 40) ? own : material;
}

function sentencesOf({ text }: Message, message: number): Sentence[] {
  return splitSentences(text).map((span) => ({ ...span, message, text: text.slice(span.start, span.end) }));
}

function isMaterial({ text, message, code }: Sentence, messages: readonly Message[], last: number): boolean {
  if (code) return true;
  const role = messages[message]?.role;
  if (role === 'user' && isQuestion(text)) return false;
  const mayInstruct = role === 'system' || message === last;
  return !(mayInstruct && (isInstruction(text) || (role === 'system' && isOrder(text))));
}

/** Prompts put their question last, or first, and the material before or after it. */
function questionIn(own: readonly Sentence[]): Sentence[] {
  const prose = own.filter(({ code, text }) => !code && !label.test(text));
  const lastProse = prose.at(-1);
  const first = prose[0];
  if (lastProse === undefined || first === undefined) return [];
  for (const asks of [isQuestion, isOrder]) {
    const trailing = run(prose.slice(-mostAsked).toReversed(), ({ text }) => asks(text)).toReversed();
    if (trailing.length > 0) return trailing;
    const leading = run(prose, ({ text }) => asks(text));
    if (leading.length > 0) return leading;
  }
  const ending = prose.slice(-mostAsked).findLast(({ text }) => isQuestion(text));
  if (ending !== undefined) return [ending];
  if (prose.length <= 2 && lastProse.end - first.start <= shortMessage) return prose;
  return prose.filter(({ text }) => isQuestion(text)).slice(-1);
}

/** `Answer:` alone, or `Question:`. */
const label = /^[\p{L}# *]{1,24}[:：][*]*$/u;

/** The sentences at the beginning that meet a condition. */
function run(sentences: readonly Sentence[], holds: (sentence: Sentence) => boolean): Sentence[] {
  const few = sentences.slice(0, mostAsked);
  const end = few.findIndex((sentence) => !holds(sentence));
  return end < 0 ? few : few.slice(0, end);
}
