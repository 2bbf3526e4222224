import { fromBase64url, toBase64url } from '../encoding/base64url.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonValue } from '../json/types.ts';
import { constant, hex64, object, oneOf, type Rule, requireShape, text } from '../receipts/shape.ts';
import { type SaltedPart, type SessionValue, saltedHash, saltOf } from './salted.ts';
import { decimal, sessionId } from './session-call.ts';
import type { ReferenceState, SessionVerification } from './verify-session.ts';

const OPENING_VERSION = 'svc-session-opening-v1';

/** One value of a session with its salt (spec/sessions.md, *Opening one value*). Exactly one of `json` and `raw` is there. */
export interface OpenedValue {
  readonly type: typeof OPENING_VERSION;
  readonly session_id: string;
  readonly seq: string;
  readonly part: SaltedPart;
  /** 32 bytes, hex. */
  readonly salt: string;
  readonly json?: JsonValue;
  /** The bytes of a value that is no I-JSON, base64url. */
  readonly raw?: string;
}

const anything: Rule<JsonValue> = () => null;

const opened = object(
  {
    type: constant(OPENING_VERSION),
    session_id: sessionId,
    seq: decimal,
    part: oneOf('arguments', 'result'),
    salt: hex64,
  },
  { optional: { json: anything, raw: text }, closed: true },
);

/** What opens one value: nobody who gets it learns anything of the others. @param sessionSalt 32 bytes */
export function openSessionValue(
  sessionSalt: Uint8Array,
  { session_id, seq, part }: Pick<OpenedValue, 'session_id' | 'seq' | 'part'>,
  value: SessionValue,
): OpenedValue {
  return {
    type: OPENING_VERSION,
    session_id,
    seq,
    part,
    salt: toHex(saltOf(sessionSalt, seq, part)),
    ...('json' in value ? value : { raw: toBase64url(value.raw) }),
  };
}

/**
 * Checks a value that was opened against the session's receipts.
 * @returns `valid`; `not_given` if the session has no such receipt; `contradicts` if the receipt has another value
 * @throws invalid_field, json_* for what is no opening
 */
export function checkOpenedValue(
  document: unknown,
  { id, entries }: Pick<SessionVerification, 'id' | 'entries'>,
): ReferenceState {
  const { session_id, seq, part, salt, json, raw } = requireShape(opened, copyJson(document));
  if ((json === undefined) === (raw === undefined)) {
    throw new TallyError('invalid_field', 'An opening has either json or raw.', { field: 'json' });
  }
  const value = raw === undefined ? { json: json as JsonValue } : { raw: fromBase64url(raw) };
  const entry = entries.find((one) => String(one.seq) === seq);
  if (entry === undefined || id !== session_id || entry.call.kind !== 'tool') return 'not_given';
  const isRaw = entry.call.raw?.includes(part) ?? false;
  const hash = part === 'arguments' ? entry.request_hash : entry.response_hash;
  return isRaw === 'raw' in value && saltedHash(fromHex(salt, 32), value) === hash ? 'valid' : 'contradicts';
}
