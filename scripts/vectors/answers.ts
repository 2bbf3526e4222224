import { canonicalize, sha256Hex, utf8 } from '../../packages/core/src/index.ts';

/** An answer of an inference call, as saved, and the hash in a receipt, to test whether the receipt is about this answer. */
export interface AnswerCase {
  readonly name: string;
  readonly comment: string;
  /** A response body, or the bytes of a stream. */
  readonly answer: string;
  /** `response.hash` of the receipt. */
  readonly hash: string;
  readonly valid: boolean;
}

const OWN = '{"id":"c-1","choices":[],"svc":{"receipt":{}}}';
const FOREIGN = '{"id":"c-1","choices":[],"svc":{"receipt":{"receipt_id":"another"}}}';
const DELTA = '{"id":"c-1","choices":[{"index":0,"delta":{"content":"It."}}]}';
const END = '{"id":"c-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
const SPEAKS = '{"id":"c-1","choices":[{"index":0,"delta":{"content":"\\"svc\\"","svc":1}}]}';
const WHOLE = { id: 'c-1', object: 'chat.completion', choices: [], usage: { prompt_tokens: 1 } };

export function answerCases(): AnswerCase[] {
  return [
    of('whole', 'All members but svc.', whole({ svc: { receipt: {} } }), jcs(WHOLE)),
    wrong('whole, svc covered', 'svc is never covered.', whole({ svc: 1 }), jcs({ ...WHOLE, svc: 1 })),
    of('stream', 'Every payload before svc.', sse(DELTA, END, OWN, '[DONE]'), lines(DELTA, END)),
    of('stream, left', 'All payloads where svc did not come.', sse(DELTA), lines(DELTA)),
    of(
      'stream that speaks of svc',
      'Only a member of the chunk itself marks the end.',
      sse(SPEAKS, END, OWN, '[DONE]'),
      lines(SPEAKS, END),
    ),
    of(
      'stream, svc of a provider',
      'The service’s own is the last before [DONE].',
      sse(DELTA, FOREIGN, END, OWN, '[DONE]'),
      lines(DELTA, FOREIGN, END),
    ),
    of(
      'stream, svc after [DONE]',
      'Nothing counts after [DONE].',
      sse(DELTA, END, OWN, '[DONE]', FOREIGN),
      lines(DELTA, END),
    ),
    wrong(
      'stream, up to the svc of a provider',
      'What came after the provider’s svc is covered too.',
      sse(DELTA, FOREIGN, END, OWN, '[DONE]'),
      lines(DELTA),
    ),
    wrong(
      'stream, svc of a provider left out',
      'What the service sent is covered, whoever wrote it.',
      sse(DELTA, FOREIGN, END, OWN, '[DONE]'),
      lines(DELTA, END),
    ),
    wrong('stream, another payload', 'Each payload is covered.', sse(END, OWN, '[DONE]'), lines(DELTA)),
  ];
}

const of = (name: string, comment: string, answer: string, covered: string): AnswerCase => ({
  name,
  comment,
  answer,
  hash: `sha256:${sha256Hex(utf8(covered))}`,
  valid: true,
});
const wrong = (name: string, comment: string, answer: string, covered: string): AnswerCase => ({
  ...of(name, comment, answer, covered),
  valid: false,
});

const jcs = (body: Parameters<typeof canonicalize>[0]): string => canonicalize(body);
const whole = (more: object): string => JSON.stringify({ ...more, ...WHOLE });
const sse = (...payloads: string[]): string => payloads.map((payload) => `data: ${payload}\n\n`).join('');
const lines = (...payloads: string[]): string => payloads.map((payload) => `${payload}\n`).join('');
