import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROTOCOLS, type Spoken } from '../../../scripts/vectors/call-protocols.ts';
import { minted } from '../../../scripts/vectors/envelope-base.ts';
import {
  CallCollector,
  type CollectedAnswer,
  canonicalize,
  type JsonObject,
  parseJson,
  sha256Hex,
  utf8,
  verifyCall,
} from '../src/index.ts';
import { newSeed, randomOf } from './random.ts';

const now = Date.parse('2026-01-15T12:00:00Z');
const hashOf = (text: string): string => `sha256:${sha256Hex(utf8(text))}`;
const receiptFor = (request: JsonObject, covered: string): Promise<JsonObject> =>
  minted({
    request: { hash: hashOf(canonicalize(request)), origin: null, purpose: 'inference', policy_hash: null },
    response: { hash: hashOf(covered), sealed: false },
  });

const event = (name: string | null, data: string): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`;

/** A streamed call with characters of up to four bytes, valid as it is. */
async function streamed({ events, named, request }: Spoken): Promise<{ request: string; response: string }> {
  const extra = 'Grüße ☃ 𝄞 "\\';
  const last = events[3];
  const before = events.slice(0, -1).map(({ event, data }) => ({ event, data: { ...data, extra } }));
  const payloads = before.map(({ data }) => `${JSON.stringify(data)}\n`).join('');
  const receipt = await receiptFor(request, payloads + (named ? `${canonicalize(last.data)}\n` : ''));
  const text = [...before, { ...last, data: { ...last.data, svc: { receipt } } }]
    .map((one) => event(one.event, JSON.stringify(one.data)))
    .join('');
  return { request: JSON.stringify(request), response: text + (named ? '' : 'data: [DONE]\n\n') };
}

async function whole({ body, request }: Spoken): Promise<{ request: string; response: string }> {
  const receipt = await receiptFor(request, canonicalize(body));
  return { request: JSON.stringify(request), response: JSON.stringify({ ...body, svc: { receipt } }) };
}

/**
 * A payload as a client sees it. One with svc is covered by its values, so white space in it says nothing;
 * what stands beside svc in a chunk of its own only repeats the chunks before.
 */
function payloadSeen(payload: string): string {
  try {
    const chunk = JSON.parse(payload) as JsonObject;
    if (chunk['svc'] === undefined) return payload;
    if (chunk['choices'] === undefined || chunk['usage'] !== undefined) return canonicalize(chunk);
    return canonicalize({ ...chunk, id: null, object: null, created: null, model: null });
  } catch {
    return payload;
  }
}

/** What a strict client sees of an answer: its JSON, or each event's name and payload. */
function seen(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  try {
    return canonicalize(parseJson(bytes));
  } catch {
    // The HTML standard's own words, by a reader that is not the one under test.
    const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
    const events: string[] = [];
    let data: string[] = [];
    let name = '';
    for (const line of lines.slice(0, -1)) {
      const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (line === '') {
        if (data.length > 0) events.push(JSON.stringify([name, payloadSeen(data.join('\n'))]));
        data = [];
        name = '';
      } else if (field === 'data') data.push(value);
      else if (field === 'event') name = value;
    }
    // No hash covers the last `[DONE]`: without it, a stream has still said everything.
    return events
      .join()
      .replace(/\["","\[DONE\]"\]$/, '')
      .replace(/,$/, '');
  }
}

describe.each(PROTOCOLS)('$protocol', (spoken) => {
  test.each([
    ['in one piece', whole],
    ['streamed', streamed],
  ])('%s: every change of one byte that a client could see is found', async (_, make) => {
    const { request, response } = await make(spoken);
    expect(await verifyCall({ request, response, now })).toMatchObject({ valid: true });
    const seed = newSeed();
    const random = randomOf(seed);
    let visible = 0;
    for (const part of ['request', 'response'] as const) {
      const bytes = utf8({ request, response }[part]);
      const original = seen(bytes);
      for (let at = 0; at < bytes.length; at++) {
        const changed = bytes.slice();
        changed[at] = (changed[at]! + 1 + random.below(255)) % 256;
        if (seen(changed) === original) continue;
        visible++;
        const verdict = await verifyCall({ request, response, [part]: changed, now });
        const where = `seed ${seed}, byte ${at} of the ${part}: ${new TextDecoder().decode(changed)}`;
        expect(verdict.valid, where).toBe(false);
      }
    }
    expect(visible).toBeGreaterThan(1000);
  });

  test('a stream that arrives in pieces of any size has one hash', async () => {
    const { response } = await streamed(spoken);
    const bytes = utf8(response);
    const collect = (size: number): CollectedAnswer => {
      const collector = new CallCollector();
      for (let at = 0; at < bytes.length; at += size) collector.push(bytes.subarray(at, at + size));
      return collector.end();
    };
    const one = collect(bytes.length);
    expect(one).toMatchObject({ fault: null, protocol: spoken.protocol });
    for (const size of [1, 2, 3, 7, 64]) expect(collect(size)).toEqual(one);
  });
});

/**
 * Bytes of buffers that something holds: what nothing holds is collected first. V8 gives the memory of dead buffers back beside the program, and
 * counts it until then; the next collection waits for that.
 */
function held(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}

describe('the collector', () => {
  test('holds one event of a stream at a time, however long the stream', () => {
    const collector = new CallCollector();
    const piece = utf8(`data: {"x":"${'a'.repeat(100_000)}"}\n\n`);
    const before = held();
    for (let count = 0; count < 500; count++) collector.push(piece);
    expect(held() - before).toBeLessThan(1_000_000);
    expect(collector.end().hash).toMatch(/^sha256:/);
  });

  test('refuses an event that would fill the memory, and says so', () => {
    const collector = new CallCollector();
    const piece = new Uint8Array(1_048_576).fill(0x61);
    for (let count = 0; count < 70; count++) collector.push(piece);
    expect(collector.end()).toMatchObject({ hash: null, fault: 'An event may have at most 67108864 bytes.' });
  });

  test('gives the same result each time it is asked', () => {
    const collector = new CallCollector();
    collector.push(utf8('{"choices":[]}'));
    const first = collector.end();
    collector.push(utf8('more'));
    expect(collector.end()).toBe(first);
  });
});

describe('verifyCall', () => {
  let call: { request: string; response: string };
  beforeAll(async () => {
    call = await whole(PROTOCOLS[0]!);
  });

  test('takes parsed documents, without members that JSON would not show', async () => {
    const response = JSON.parse(call.response) as object;
    Object.defineProperty(response, '_request_id', { value: 'req_1', enumerable: false });
    const verdict = await verifyCall({ request: JSON.parse(call.request) as object, response, now });
    expect(verdict).toMatchObject({ valid: true, protocol: 'chat' });
  });

  test('leaves open what was not given', async () => {
    const { checks, valid } = await verifyCall({ response: call.response, now });
    expect(valid).toBe(true);
    expect(checks.find(({ name }) => name === 'request')).toMatchObject({ ok: null });
  });

  test.each([
    ['request', { request: '{"a":1,"a":2}' }],
    ['request', { request: { a: undefined } }],
    ['response', { response: 'not JSON, and no events' }],
    ['response', { response: [1] }],
    ['receipt', { receipt: '{' }],
    ['format', { receipt: {} }],
  ])('answers what can’t be read with the failed check %s', async (name, given) => {
    const verdict = await verifyCall({ ...call, ...given, now });
    expect(verdict.valid).toBe(false);
    expect(verdict.checks.find((check) => check.ok === false)?.name).toBe(
      'response' in given ? 'receipt' : name,
    );
    expect(verdict.checks.filter((check) => check.ok === false).map((check) => check.name)).toContain(name);
  });
});
