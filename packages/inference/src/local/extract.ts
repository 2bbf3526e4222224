import { answerSentences } from './answer.ts';
import { type Sentence, taskOf } from './conversation.ts';
import type { ExtractRequest } from './request.ts';
import { summarySentences } from './summary.ts';
import type { Tokenizer } from './tokens.ts';

const nothingGiven =
  'The request contains no text to answer from. This model (local/extract-1) only quotes sentences of the text it is given and knows nothing else.';
const nothingFound =
  'Nothing in the text given here answers that. This model (local/extract-1) only quotes sentences of the text it is given and knows nothing else.';

const asksForBullets = /\b(?:bullet|key|main) ?points?\b|\bbullets\b/i;

export interface Extract {
  readonly text: string;
  /** Sentences exactly as in the conversation. */
  readonly sentences: readonly string[];
  readonly finish: 'stop' | 'length';
}

/** The answer to a conversation, always the same for the same conversation. */
export function extract(request: ExtractRequest, tokenizer: Tokenizer): Extract {
  const task = taskOf(request.messages, (text) => text === nothingGiven || text === nothingFound);
  const found = task.kind === 'summary' ? summarySentences(task) : answerSentences(task);
  const none = task.material.length === 0 ? nothingGiven : nothingFound;
  const bullets = task.kind === 'summary' && asksForBullets.test(task.question);
  const whole = request.json
    ? fittingJson(found, none, request.maxTokens, tokenizer)
    : joined(found, bullets) || none;
  const stopped = beforeStop(whole, request.stop);
  const text = tokenizer.cut(stopped, request.maxTokens);
  return {
    text,
    sentences: found.map((sentence) => sentence.text),
    finish: text.length < stopped.length ? 'length' : 'stop',
  };
}

/** JSON with as many sentences as the limit allows, so that it stays valid. */
function fittingJson(found: readonly Sentence[], none: string, limit: number, tokenizer: Tokenizer): string {
  for (let length = found.length; length > 0; length--) {
    const first = found.slice(0, length);
    const json = JSON.stringify({ answer: joined(first, false), sentences: first.map(({ text }) => text) });
    if (length === 1 || tokenizer.count(json) <= limit) return json;
  }
  const empty = JSON.stringify({ answer: null, sentences: [], note: none });
  return tokenizer.count(empty) <= limit ? empty : JSON.stringify({ answer: null, sentences: [] });
}

function joined(sentences: readonly Sentence[], bullets: boolean): string {
  if (bullets) return sentences.map(({ text }) => `- ${text.replace(/^[-*+•]\s+/, '')}`).join('\n');
  let text = '';
  for (const [index, sentence] of sentences.entries()) {
    const before = sentences[index - 1];
    if (before !== undefined) text += between(before, sentence);
    text += sentence.text;
  }
  return text;
}

function between(before: Sentence, after: Sentence): string {
  const list = /^(?:[-*+•|#>]|\d+[.)])\s?/;
  if (before.code || after.code || list.test(before.text) || list.test(after.text)) return '\n';
  if (/[。！？]$/.test(before.text)) return '';
  return /[.!?…]["'”’»)\]]*$/.test(before.text) ? ' ' : '\n';
}

function beforeStop(text: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return text.slice(0, Math.min(text.length, ...ends));
}
