import {
  type CallProtocol,
  canonicalize,
  type EnvelopeFacts,
  isObject,
  type JsonObject,
  type JsonValue,
  sha256Hex,
  utf8,
} from '../../packages/core/src/index.ts';
import { PROTOCOLS, type Spoken, type SpokenEvent } from './call-protocols.ts';
import { NOW } from './cases.ts';
import { facts, minted } from './envelope-base.ts';
import type { StoreName } from './stores.ts';

/** A call as its caller saved it, to test whether the receipt is about this request and this answer. */
export interface CallCase {
  readonly name: string;
  readonly comment: string;
  /** The request's body. */
  readonly request: string;
  /** The response's body, or the bytes of the stream. */
  readonly response: string;
  /** The receipt; absent if it is to be taken from the answer. */
  readonly receipt?: JsonObject;
  readonly trust: StoreName;
  readonly now: string;
  readonly expected: {
    readonly valid: boolean;
    /** Of the receipt alone. */
    readonly integrity: boolean;
    readonly trusted: boolean;
    readonly protocol: CallProtocol | null;
    /** The names of all checks that are false. */
    readonly failed_checks: readonly string[];
    /** The computed hashes, `sha256:<hex>`; null for what can't be read. */
    readonly request_hash: string | null;
    readonly response_hash: string | null;
  };
}

/** The files of calls, one a protocol. */
export async function callFiles(): Promise<Record<string, CallCase[]>> {
  const files: Record<string, CallCase[]> = {};
  for (const spoken of PROTOCOLS) files[`calls-${spoken.protocol}.json`] = await casesOf(spoken);
  return files;
}

/** A check that fails, and what a case gives in place of what belongs to the call. */
interface Changed {
  readonly request?: string;
  readonly response?: string;
  readonly receipt?: JsonObject;
  /** What the response's hash covers; null if the response can't be read; as in the receipt when absent. */
  readonly covered?: string | null;
  readonly requestHash?: string | null;
  readonly failed?: readonly string[];
  readonly integrity?: boolean;
  readonly protocol?: CallProtocol | null;
}

async function casesOf(spoken: Spoken): Promise<CallCase[]> {
  const { protocol, body } = spoken;
  const ask = spoken.request;
  const askStream = { ...ask, stream: true };
  const [first, second, third, last] = spoken.events;
  const events = [first, second, third];
  const inStream = streamOf(spoken);

  const whole = await receiptOf(ask, jcs(body), { stream: false });
  const wholeText = JSON.stringify({ ...body, svc: { receipt: whole } });
  const ofWhole = caseOf(protocol, JSON.stringify(ask), wholeText, jcs(body), ask);

  const covered = inStream.covered(events, last);
  const receipt = await receiptOf(askStream, covered, { stream: true });
  const end = withSvc(last, receipt);
  const stream = inStream.text([...events, end]);
  const ofStream = caseOf(protocol, JSON.stringify(askStream), stream, covered, askStream);

  const other = await receiptOf({ ...askStream, temperature: 1 }, jcs({ another: true }), { stream: true });
  const otherWhole = await receiptOf({ ...ask, temperature: 1 }, jcs({ another: true }), { stream: false });
  const changedReceipt = changeAmount(receipt);

  const { failure } = spoken;
  const broken = failure.error === null ? [first, second] : [first, second, failure.error];
  const brokenCovered = inStream.covered(broken, failure.last);
  const brokenReceipt = await receiptOf(askStream, brokenCovered, { stream: true, complete: false });
  const brokenText = eventsText([...broken, withSvc(failure.last, brokenReceipt)]);

  const leftCovered = payloads([first, second]);
  const leftReceipt = await receiptOf(askStream, leftCovered, { stream: true, complete: false });

  const swapped = [first, third, second];
  const spare: SpokenEvent = { ...second, data: spoken.altered };
  return [
    ofWhole('in one piece', 'The receipt covers the request and all of the answer but svc.'),
    ofWhole('in one piece, written otherwise', 'White space, order and escapes do not count.', {
      request: spread(ask),
      response: spread({ svc: { receipt: whole }, ...body }),
    }),
    ofWhole('in one piece, receipt given', 'The receipt that is given comes before the one in the answer.', {
      response: JSON.stringify(body),
      receipt: whole,
    }),
    ofWhole('in one piece, request altered', 'One member of the request has another value.', {
      request: JSON.stringify({ ...ask, temperature: 1 }),
      requestHash: hashOf(jcs({ ...ask, temperature: 1 })),
      failed: ['request'],
    }),
    ofWhole('in one piece, request with a member twice', 'A body with two readings has no hash.', {
      request: `{"model":"m",${JSON.stringify(ask).slice(1)}`,
      requestHash: null,
      failed: ['request'],
    }),
    ofWhole('in one piece, answer altered', 'One text of the answer is another.', {
      response: JSON.stringify({ ...spoken.alteredBody, svc: { receipt: whole } }),
      covered: jcs(spoken.alteredBody),
      failed: ['response'],
    }),
    ofWhole('in one piece, svc of another call', 'The receipt is good, but it is about another call.', {
      response: JSON.stringify({ ...body, svc: { receipt: otherWhole } }),
      failed: ['request', 'response'],
    }),
    ofWhole('in one piece, receipt altered', 'The signature does not cover this receipt.', {
      response: JSON.stringify({ ...body, svc: { receipt: changeAmount(whole) } }),
      failed: ['signature'],
    }),
    ofWhole('in one piece, no receipt', 'There is nothing to compare with.', {
      response: JSON.stringify(body),
      failed: ['receipt', 'format'],
      integrity: false,
    }),
    ofWhole('in one piece, cut', 'Half of a body is no JSON.', {
      response: wholeText.slice(0, wholeText.length / 2),
      receipt: whole,
      covered: null,
      failed: ['response'],
      protocol: null,
    }),
    ofWhole('no answer', 'An empty file is neither a body nor a stream.', {
      response: '',
      receipt: whole,
      covered: null,
      failed: ['response'],
      protocol: null,
    }),
    ofStream('stream', 'Every payload is covered, and of svc nothing.'),
    ofStream('stream with other line ends', 'Line ends, comments, ids and a byte order mark do not count.', {
      response: `\ufeff: hello\r\nretry: 1000\r\n\r\n${stream.replaceAll('\n', '\r\n')}`,
    }),
    ofStream('stream without a space after the colon', 'The space after a field’s colon does not count.', {
      response: stream.replaceAll('data: ', 'data:'),
    }),
    ofStream('stream, left', 'All payloads count where svc did not come.', {
      response: eventsText([first, second]),
      receipt: leftReceipt,
      covered: leftCovered,
    }),
    ofStream(
      'stream with an error',
      'An error in mid-stream is covered, and svc comes after it or with it.',
      {
        response: brokenText,
        covered: brokenCovered,
      },
    ),
    ofStream('stream with an error, error left out', 'The stream says that it ended well.', {
      response: inStream.text([first, second, withSvc(last, brokenReceipt)]),
      covered: inStream.covered([first, second], last),
      failed: ['response'],
    }),
    ofStream('stream, request altered', 'One member of the request has another value.', {
      request: JSON.stringify({ ...askStream, temperature: 1 }),
      requestHash: hashOf(jcs({ ...askStream, temperature: 1 })),
      failed: ['request'],
    }),
    ofStream('stream, payload altered', 'One text of the stream is another.', {
      response: inStream.text([first, spare, third, end]),
      covered: inStream.covered([first, spare, third], last),
      failed: ['response'],
    }),
    ofStream('stream, white space in a payload', 'A payload is covered as the text that was sent.', {
      response: stream.replace('data: {', 'data: { '),
      covered: covered.replace('{', '{ '),
      failed: ['response'],
    }),
    ofStream('stream, event dropped', 'One event is missing.', {
      response: inStream.text([first, third, end]),
      covered: inStream.covered([first, third], last),
      failed: ['response'],
    }),
    ofStream(
      'stream, byte order mark within',
      'A mark before a line in the middle is part of its field’s name.',
      {
        response: marked(stream),
        covered: inStream.covered([first, third], last),
        failed: ['response'],
      },
    ),
    ofStream('stream, first event dropped', 'The first event is missing.', {
      response: inStream.text([second, third, end]),
      covered: inStream.covered([second, third], last),
      failed: ['response'],
    }),
    ofStream('stream, events swapped', 'Two events are in the other order.', {
      response: inStream.text([...swapped, end]),
      covered: inStream.covered(swapped, last),
      failed: ['response'],
    }),
    ofStream('stream, event twice', 'One event came twice.', {
      response: inStream.text([first, second, second, third, end]),
      covered: inStream.covered([first, second, second, third], last),
      failed: ['response'],
    }),
    ofStream('stream, event after svc', 'Nothing but [DONE] follows the event with svc.', {
      response: inStream.text([...events, end, second]),
      receipt,
      covered: payloads([...events, end, second]),
      failed: ['response'],
    }),
    ofStream('stream, event after [DONE]', 'Nothing follows [DONE].', {
      response: `${eventsText([...events, end])}data: [DONE]\n\n${eventsText([second])}`,
      receipt,
      covered: `${payloads([...events, end])}[DONE]\n${payloads([second])}`,
      failed: ['response'],
    }),
    ofStream('stream, cut', 'An event and all that follows it are missing.', {
      response: eventsText([first, second]),
      receipt,
      covered: payloads([first, second]),
      failed: ['response'],
    }),
    ofStream('stream without its end', 'The events from svc on are missing.', {
      response: eventsText(events),
      receipt,
      covered: payloads(events),
      failed: spoken.named ? ['response'] : [],
    }),
    ofStream('stream, last event not ended', 'An event that no blank line ends is no event.', {
      response: eventsText([...events, end]).slice(0, -1),
      receipt,
      covered: payloads(events),
      failed: spoken.named ? ['response'] : [],
    }),
    ofStream('stream, two events in one', 'Two payloads that no blank line parts are no JSON.', {
      response: stream.replace('}\n\n', `}\n`),
      covered: null,
      failed: ['response'],
    }),
    ofStream('stream, svc of another call', 'The receipt is good, but it is about another call.', {
      response: inStream.text([...events, withSvc(last, other)]),
      failed: ['request', 'response'],
    }),
    ofStream('stream, receipt altered', 'The signature does not cover this receipt.', {
      response: inStream.text([...events, withSvc(last, changedReceipt)]),
      failed: ['signature'],
    }),
    ...(spoken.named
      ? namedCases(spoken, ofStream, { events, last, end, receipt })
      : await unnamedCases(spoken, ofStream, { events, last, askStream, receipt })),
  ];
}

type Add = (name: string, comment: string, changed?: Changed) => CallCase;

/** Cases of the protocols whose events have names, and whose last event carries svc. */
function namedCases(
  { altered }: Spoken,
  add: Add,
  {
    events,
    last,
    end,
    receipt,
  }: {
    readonly events: readonly SpokenEvent[];
    readonly last: SpokenEvent;
    readonly end: SpokenEvent;
    readonly receipt: JsonObject;
  },
): CallCase[] {
  const text = eventsText([...events, end]);
  const { type: _type, ...untyped } = last.data;
  const withoutType = withSvc({ ...last, data: untyped }, receipt);
  const more = withSvc({ ...last, data: { ...last.data, more: altered } }, receipt);
  return [
    add('stream, last event written otherwise', 'The last event is covered as JCS without svc.', {
      response: eventsText(events) + eventText(end.event, spread(end.data).replaceAll('\n', '\ndata: ')),
    }),
    add('stream, last event altered', 'All of the last event but svc is covered.', {
      response: eventsText([...events, more]),
      covered: payloads(events) + jcs({ ...last.data, more: altered }).concat('\n'),
      failed: ['response'],
    }),
    add('stream, last event without its type', 'The name of an event is the type in its payload.', {
      response: eventsText([...events, withoutType]),
      receipt,
      covered: null,
      failed: ['response'],
    }),
    add('stream, event renamed', 'A client would pass over an event with another name.', {
      response: text.replace(`event: ${events[1]?.event ?? ''}`, 'event: other'),
      covered: null,
      failed: ['response'],
    }),
    add('stream, name of one event removed', 'A client would pass over an event without a name.', {
      response: text.replace(`event: ${events[1]?.event ?? ''}\n`, ''),
      covered: null,
      failed: ['response'],
    }),
    add('stream, names of all events removed', 'A last event that has a type has a name.', {
      response: text.replaceAll(/^event: .*\n/gm, ''),
      covered: null,
      failed: ['response'],
    }),
  ];
}

/** Cases of the protocols whose events have no names, and whose svc is a chunk of its own. */
async function unnamedCases(
  { altered, failure }: Spoken,
  add: Add,
  {
    events,
    last,
    askStream,
    receipt,
  }: {
    readonly events: readonly SpokenEvent[];
    readonly last: SpokenEvent;
    readonly askStream: JsonObject;
    readonly receipt: JsonObject;
  },
): Promise<CallCase[]> {
  const failing = failure.error ?? failure.last;
  const speaking = [...events, { event: null, data: { ...altered, svc: { receipt: {} } } }];
  const speakingReceipt = await receiptOf(askStream, payloads(speaking), { stream: true });
  const end = withSvc(last, speakingReceipt);
  const pieces = `{"id":"c-1",\n"choices":[]}`;
  const inPieces = await receiptOf(askStream, `${payloads(events)}${pieces}\n`, { stream: true });
  const counted = { ...last.data, usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } };
  const countedCovered = `${payloads(events)}${jcs(counted)}\n`;
  const countedReceipt = await receiptOf(askStream, countedCovered, { stream: true });
  const miscounted = { ...counted, usage: { ...counted.usage, completion_tokens: 1 } };
  return [
    add('stream, svc in an earlier event', 'Only the svc of the last event before [DONE] ends the stream.', {
      response: `${eventsText([...speaking, end])}data: [DONE]\n\n`,
      covered: payloads(speaking),
    }),
    add('stream, svc in an earlier event, up to there', 'What came after the first svc is covered too.', {
      response: `${eventsText([...speaking, ...events, end])}data: [DONE]\n\n`,
      covered: payloads([...speaking, ...events]),
      failed: ['response'],
    }),
    add('stream, payload of two lines', 'Lines of one payload are joined by a newline.', {
      response: `${eventsText(events)}data: ${pieces.replace('\n', '\ndata: ')}\n\n${eventsText([withSvc(last, inPieces)])}data: [DONE]\n\n`,
      covered: `${payloads(events)}${pieces}\n`,
    }),
    add('stream, text in the event with svc', 'What a client would show is never outside of the hash.', {
      response: `${eventsText([...events, { event: null, data: { ...altered, svc: { receipt } } }])}data: [DONE]\n\n`,
      receipt,
      covered: payloads([...events, { event: null, data: { ...altered, svc: { receipt } } }]),
      failed: ['response'],
    }),
    add('stream, error in the event with svc', 'A client would take the call for failed.', {
      response: `${eventsText([...events, { event: null, data: { ...failing.data, svc: { receipt } } }])}data: [DONE]\n\n`,
      receipt,
      covered: payloads([...events, { event: null, data: { ...failing.data, svc: { receipt } } }]),
      failed: ['response'],
    }),
    add('stream, usage in the event with svc', 'The last event is covered as JCS without svc.', {
      response: `${eventsText([...events, withSvc({ event: null, data: counted }, countedReceipt)])}data: [DONE]\n\n`,
      covered: countedCovered,
    }),
    add('stream, usage in the event with svc altered', 'All of the last event but svc is covered.', {
      response: `${eventsText([...events, withSvc({ event: null, data: miscounted }, countedReceipt)])}data: [DONE]\n\n`,
      covered: `${payloads(events)}${jcs(miscounted)}\n`,
      failed: ['response'],
    }),
    add('stream, event named', 'A client would pass over an event whose name it does not know.', {
      response: `event: other\n${eventsText([...events, end])}data: [DONE]\n\n`,
      covered: null,
      failed: ['response'],
    }),
  ];
}

/** How a protocol writes a stream. */
function streamOf({ named }: Spoken) {
  const done = named ? '' : 'data: [DONE]\n\n';
  return {
    /** The text of a stream that ended well. */
    text: (events: readonly SpokenEvent[]): string => eventsText(events) + done,
    /** What the hash covers of these events and the last one, as it is without svc. */
    covered: (events: readonly SpokenEvent[], last: SpokenEvent): string =>
      payloads(events) + (named ? `${jcs(last.data)}\n` : ''),
  };
}

const eventText = (event: string | null, data: string): string =>
  `${event === null ? '' : `event: ${event}\n`}data: ${data}\n\n`;

const eventsText = (events: readonly SpokenEvent[]): string =>
  events.map(({ event, data }) => eventText(event, JSON.stringify(data))).join('');

const payloads = (events: readonly SpokenEvent[]): string =>
  events.map(({ data }) => `${JSON.stringify(data)}\n`).join('');

const withSvc = ({ event, data }: SpokenEvent, receipt: JsonObject): SpokenEvent => ({
  event,
  data: { ...data, svc: { receipt } },
});

const jcs = (value: JsonValue): string => canonicalize(value);
const hashOf = (covered: string): string => `sha256:${sha256Hex(utf8(covered))}`;

/** JSON with the members in reverse, white space, and an escape. */
function spread(value: JsonObject): string {
  const reversed = Object.fromEntries(Object.entries(value).toReversed());
  return JSON.stringify(reversed, null, 1).replaceAll('"model"', '"\\u006dodel"');
}

async function receiptOf(
  request: JsonObject,
  covered: string,
  { stream, complete = true }: { readonly stream: boolean; readonly complete?: boolean },
): Promise<JsonObject> {
  const call: EnvelopeFacts['call'] = {
    agent_proved: false,
    cache_write_tokens: 0,
    cached_tokens: 0,
    complete,
    completion_tokens: 2,
    model: 'example/model',
    prompt_tokens: 7,
    provider: 'example',
    requested_model: 'example/model',
    stream,
    usage_estimated: false,
  };
  return minted({
    ...facts,
    call,
    request: { hash: hashOf(jcs(request)), origin: null, purpose: 'inference', policy_hash: null },
    response: { hash: hashOf(covered), sealed: false },
    settlement: { account: 'api_key', amount: '0.0000063', asset: 'USDC', chain: null, tx: null },
  });
}

function changeAmount(receipt: JsonObject): JsonObject {
  const settlement = isObject(receipt['settlement']) ? receipt['settlement'] : {};
  return { ...receipt, settlement: { ...settlement, amount: '0.0000001' } };
}

/** Cases of one call: its request and its answer, what the receipt covers of the answer, and what a case changes. */
function caseOf(
  ofProtocol: CallProtocol,
  request: string,
  response: string,
  ofReceipt: string,
  asked: JsonObject,
): Add {
  return (name, comment, changed = {}) => {
    const { receipt, failed = [], integrity, protocol = ofProtocol } = changed;
    const { covered = ofReceipt, requestHash = hashOf(jcs(asked)) } = changed;
    const valid = failed.length === 0;
    return {
      name,
      comment,
      request: changed.request ?? request,
      response: changed.response ?? response,
      ...(receipt === undefined ? {} : { receipt }),
      trust: 'known',
      now: NOW,
      expected: {
        valid,
        integrity: integrity ?? !failed.includes('signature'),
        trusted: valid,
        protocol,
        failed_checks: failed,
        request_hash: requestHash,
        response_hash: covered === null ? null : hashOf(covered),
      },
    };
  };
}

/** The stream with a byte order mark before the second of its lines of data. */
function marked(stream: string): string {
  let lines = 0;
  return stream.replaceAll('data: ', (field) => (++lines === 2 ? `\ufeff${field}` : field));
}
