import { utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { type Check, failed, passed, unchecked } from '../receipts/family.ts';
import { isObject } from '../receipts/shape.ts';
import { type Verification, type VerifyOptions, verifyParsed } from '../verify.ts';
import { CallCollector, type CollectedAnswer, collectDocument } from './collector.ts';
import type { CallProtocol } from './protocol.ts';

/** JSON as its text, its bytes, or parsed. */
export type JsonInput = string | Uint8Array | object;

export interface CallInput {
  /** The request's body as it was sent. */
  readonly request?: JsonInput | undefined;
  /** The answer: its body, the text or bytes of its stream, or a collector that the whole answer was pushed into. */
  readonly response?: JsonInput | CallCollector | undefined;
  /** The receipt of the call. When absent, the one in the answer, `svc.receipt`. */
  readonly receipt?: JsonInput | undefined;
}

/** A check of the verdict on a call. */
export interface CallCheck extends Check {
  /** Only of the checks `request` and `response`: the hash that was computed, `sha256:<hex>`; absent if there is none. */
  readonly hash?: string;
}

/**
 * The verdict on a call: that on its receipt, and whether it covers this request and this answer (the checks `request` and
 * `response`; `ok` is null for what was not given). `valid` and `issuer.trusted` depend on these checks too.
 */
export interface CallVerdict extends Verification {
  readonly checks: readonly CallCheck[];
  /** The protocol that the answer says it is in; null if none is recognised. The checks do not depend on it. */
  readonly protocol: CallProtocol | null;
  /** The receipt that was judged; null if there is none. */
  readonly receipt: JsonObject | null;
}

export type VerifyCallOptions = CallInput & Omit<VerifyOptions, 'evidence' | 'evidenceSources'>;

/** A call that was read, before its receipt is verified. */
export interface ReadCall {
  /** The receipt to verify; null if there is none. */
  readonly receipt: JsonValue;
  readonly protocol: CallProtocol | null;
  /** Whether there is a receipt that can be read: empty, or one failed check. */
  readonly receiptChecks: readonly CallCheck[];
  /** The checks `request` and `response`. */
  readonly callChecks: readonly CallCheck[];
}

/** Reads a call and compares its hashes with those in the receipt, which is not verified. */
export function readCall({ request, response, receipt }: CallInput): ReadCall {
  const answer = response === undefined ? null : collect(response);
  const given = receipt === undefined ? { value: answer?.svc?.['receipt'] ?? null } : read(receipt);
  const document = 'value' in given ? given.value : null;
  return {
    receipt: document,
    protocol: answer?.protocol ?? null,
    receiptChecks: receiptChecks(given),
    callChecks: [
      compare('request', request === undefined ? null : hashOf(request), document),
      compare('response', answer, document),
    ],
  };
}

/** The verdict on a call whose receipt was verified. */
export function callVerdict(call: ReadCall, verdict: Verification): CallVerdict {
  const checks = [...call.receiptChecks, ...verdict.checks, ...call.callChecks];
  const valid = verdict.valid && checks.every(({ ok }) => ok !== false);
  return {
    ...verdict,
    valid,
    issuer: { ...verdict.issuer, trusted: verdict.issuer.trusted && valid },
    checks,
    protocol: call.protocol,
    receipt: isObject(call.receipt) ? call.receipt : null,
  };
}

/**
 * Verifies an inference call: its receipt, and that the receipt covers the request and the answer (spec/compute.md). Pure, as
 * `verify` is. Never throws for what request, answer and receipt say: what can't be read is a failed check.
 * @throws the codes of `copyJson` for an anchor that is not plain JSON
 */
export async function verifyCall({
  request,
  response,
  receipt,
  ...options
}: VerifyCallOptions): Promise<CallVerdict> {
  const call = readCall({ request, response, receipt });
  const anchor = options.anchor === undefined ? undefined : copyJson(options.anchor);
  return callVerdict(call, await verifyParsed(call.receipt, { ...options, anchor }));
}

/** A parsed value, or the sentence that says why there is none. */
type Read = { readonly value: JsonValue } | { readonly fault: string };

function read(input: JsonInput): Read {
  try {
    if (typeof input === 'string') return { value: parseJson(utf8(input)) };
    if (input instanceof Uint8Array) return { value: parseJson(input) };
    // Clients add members that JSON would not show, such as `_request_id`, to the answers that they parse.
    return { value: copyJson(Array.isArray(input) ? input : { ...input }) };
  } catch (error) {
    if (error instanceof TallyError) return { fault: error.message };
    throw error;
  }
}

/** A computed hash, or the sentence that says why there is none. */
type Computed = Pick<CollectedAnswer, 'hash' | 'fault'>;

function hashOf(request: JsonInput): Computed {
  const body = read(request);
  return 'fault' in body
    ? { hash: null, fault: body.fault }
    : { hash: `sha256:${sha256Hex(canonicalBytes(body.value))}`, fault: null };
}

function collect(response: JsonInput | CallCollector): CollectedAnswer {
  if (response instanceof CallCollector) return response.end();
  if (typeof response === 'string' || response instanceof Uint8Array) {
    const collector = new CallCollector();
    collector.push(typeof response === 'string' ? utf8(response) : response);
    return collector.end();
  }
  const body = read(response);
  return 'fault' in body
    ? { hash: null, fault: body.fault, svc: null, answerId: null, protocol: null }
    : collectDocument(body.value);
}

function receiptChecks(given: Read): Check[] {
  if ('fault' in given) return [failed('receipt', given.fault)];
  if (given.value !== null) return [];
  return [failed('receipt', 'No receipt was given, and the answer contains none.')];
}

const NAMES = { request: 'request', response: 'answer' } as const;

function compare(member: 'request' | 'response', computed: Computed | null, receipt: JsonValue): CallCheck {
  const name = NAMES[member];
  if (computed === null) return unchecked(member, `The ${name} was not given.`);
  const { hash, fault } = computed;
  if (hash === null) return failed(member, `The ${name} can't be read: ${fault}`);
  if (receipt === null) return { ...unchecked(member, 'There is no receipt to compare it with.'), hash };
  const part = isObject(receipt) ? receipt[member] : undefined;
  const covered = isObject(part) ? part['hash'] : undefined;
  if (covered === hash) return { ...passed(member, `The receipt covers exactly this ${name}.`), hash };
  const instead = typeof covered === 'string' ? `another ${name}` : `no ${name}`;
  return { ...failed(member, `The receipt covers ${instead}: the hash of this one is ${hash}.`), hash };
}
