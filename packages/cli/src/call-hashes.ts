import {
  canonicalBytes,
  isObject,
  type JsonObject,
  type JsonValue,
  sha256Hex,
  utf8,
  type Verification,
} from '@tallystick/core';
import { nameOf, parseNamed, readBytes } from './input.ts';
import { UsageError } from './output.ts';

export interface CallFiles {
  /** File of the request body that was sent. */
  readonly request?: string;
  /** File of the response body, or of the bytes of the stream. */
  readonly response?: string;
}

/** A hash that the receipt of an inference call should have: `sha256:<hex>`. */
interface Expected {
  readonly member: 'request' | 'response';
  readonly hash: string;
}

type Check = Verification['checks'][number];

/**
 * Reads the request and the response of a call, and returns the check that compares a receipt with their hashes
 * (spec/compute.md); null if neither file is given.
 * @throws UsageError, json_*
 */
export async function callCheck({
  request,
  response,
}: CallFiles): Promise<((receipt: JsonValue) => Check) | null> {
  const expected: Expected[] = [];
  if (request !== undefined) {
    const body = parseNamed(await readBytes(request), nameOf(request));
    expected.push({ member: 'request', hash: hashOf(canonicalBytes(body)) });
  }
  if (response !== undefined) {
    expected.push({ member: 'response', hash: responseHash(await readBytes(response), nameOf(response)) });
  }
  return expected.length === 0 ? null : (receipt) => compare(receipt, expected);
}

/** Returns whether a receipt is about another request (JCS bytes) or another answer than these. */
export function contradicts(
  receipt: JsonObject,
  { request, answer }: { readonly request: Uint8Array; readonly answer: JsonObject },
): boolean {
  return hashIn(receipt['request']) !== hashOf(request) || hashIn(receipt['response']) !== answerHash(answer);
}

function compare(receipt: JsonValue, expected: readonly Expected[]): Check {
  const wrong = expected.filter(({ member, hash }) => !isObject(receipt) || hashIn(receipt[member]) !== hash);
  const names = (list: readonly Expected[]): string => list.map(({ member }) => member).join(' and ');
  return {
    name: 'call',
    ok: wrong.length === 0,
    detail:
      wrong.length === 0
        ? `The receipt covers this ${names(expected)}.`
        : `The receipt covers a different ${names(wrong)}: the computed hash is ${wrong.map(({ hash }) => hash).join(', ')}.`,
  };
}

function hashIn(part: JsonValue | undefined): JsonValue | undefined {
  return isObject(part) ? part['hash'] : undefined;
}

function responseHash(bytes: Uint8Array, name: string): string {
  const payloads = payloadsOf(bytes);
  if (payloads !== null) return hashOf(utf8(coveredOf(payloads, name)));
  const body = parseNamed(bytes, name);
  if (!isObject(body)) return hashOf(canonicalBytes(body));
  return answerHash(body);
}

function answerHash({ svc: _svc, ...answer }: JsonObject): string {
  return hashOf(canonicalBytes(answer));
}

/** The payloads of server-sent events; null if the bytes are no such events. */
function payloadsOf(bytes: Uint8Array): string[] | null {
  const text = new TextDecoder().decode(bytes);
  if (!/^\s*data:/.test(text)) return null;
  const events = text.split(/\r?\n\r?\n/);
  return events.flatMap((event) => {
    const lines = event.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []);
    return lines.length === 0 ? [] : [lines.join('\n')];
  });
}

/**
 * The payloads before the last chunk with `svc`, which the service itself adds; all of them if the stream broke off before
 * that. Nothing from `[DONE]` on counts.
 */
function coveredOf(payloads: readonly string[], name: string): string {
  const done = payloads.indexOf('[DONE]');
  const sent = done < 0 ? payloads : payloads.slice(0, done);
  const end = sent.findLastIndex((payload) => carriesSvc(payload, name));
  const covered = end < 0 ? sent : sent.slice(0, end);
  return covered.map((payload) => `${payload}\n`).join('');
}

function carriesSvc(payload: string, name: string): boolean {
  if (!payload.includes('"svc"')) return false;
  try {
    const chunk = JSON.parse(payload) as JsonValue;
    return isObject(chunk) && Object.hasOwn(chunk, 'svc');
  } catch (cause) {
    throw new UsageError(`${name} contains an event that is not JSON.`, { cause });
  }
}

function hashOf(bytes: Uint8Array): string {
  return `sha256:${sha256Hex(bytes)}`;
}
