import {
  anchoredHash,
  fromHex,
  type JsonObject,
  type JsonValue,
  parseAnchorRef,
  parseJson,
  parseTimestamp,
  TallyError,
  utf8,
} from '@tallystick/core';
import { type NanoUsdc, parseUsdc } from '@tallystick/ledger';
import type { ListedReceipt, ScannedReceipt } from './receipt-list.ts';

/** A stored receipt with an owner. */
export interface OwnedReceipt extends ScannedReceipt {
  readonly owner: string;
  readonly body: string;
}

/** The row of a receipt in its owner's list. @param charged what its settlement charged; null if that is not known */
export function listRow(receipt: OwnedReceipt, charged: NanoUsdc | null): ListedReceipt {
  const { id, owner, key, profile, issuedAt, expiresAt, body } = receipt;
  // This service wrote the text, which so needs none of the checks of a stranger's.
  const document = JSON.parse(body) as JsonObject;
  const request = memberOf(document, 'request');
  const call = memberOf(document, 'call');
  const hash = textOf(request['hash']) ?? textOf(memberOf(document, 'subject')['sha256']);
  return {
    id,
    owner,
    at: timeOf(textOf(document['issued_at'])) ?? issuedAt * 1_000,
    profile,
    purpose: storable(textOf(document['purpose']) ?? textOf(request['purpose'])),
    did: textOf(document['agent_did']) ?? textOf(document['a']) ?? textOf(request['origin']),
    model: storable(textOf(call['model'])),
    ...answerOf(call),
    key,
    requestHash: hash?.replace(/^sha256:/, '') ?? hexOf(document['h']),
    session: textOf(memberOf(call, 'session')['id']),
    cost: charged ?? paidBy(document),
    leafIndex: placeOf(document['anchor_ref']),
    expiresAt,
  };
}

/** The hash under which the log has a receipt (32 bytes). */
export function leafHash(body: string): Uint8Array {
  return fromHex(anchoredHash(parseJson(utf8(body))), 32);
}

/** What only the receipt of a call of a model says. */
function answerOf({ complete, provider = null }: JsonObject): Pick<ListedReceipt, 'provider' | 'status'> {
  if (typeof complete !== 'boolean') return { provider: null, status: null };
  return { provider: storable(textOf(provider)), status: complete ? 'ok' : 'error' };
}

function memberOf(document: JsonObject, name: string): JsonObject {
  const value = document[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** PostgreSQL stores no zero byte. */
function storable(text: string | null): string | null {
  return text?.replaceAll('\0', '\ufffd') ?? null;
}

function timeOf(text: string | null): number | null {
  const instant = text === null ? null : parseTimestamp(text);
  return instant && instant.seconds * 1_000 + Math.floor(instant.nanos / 1e6);
}

function hexOf(base64url: JsonValue | undefined): string | null {
  return typeof base64url === 'string' ? Buffer.from(base64url, 'base64url').toString('hex') : null;
}

/** What the receipt says was paid, in USDC. */
function paidBy(document: JsonObject): NanoUsdc | null {
  const { status } = memberOf(document, 'settlement_reference');
  const settled =
    status === 'confirmed' ? memberOf(document, 'settlement_reference') : memberOf(document, 'settlement');
  const amount = textOf(settled['amount']);
  return amount === null || settled['asset'] !== 'USDC' ? null : parseUsdc(amount);
}

function placeOf(anchorRef: JsonValue | undefined): number | null {
  if (typeof anchorRef !== 'string') return null;
  try {
    return parseAnchorRef(anchorRef).index;
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}
