import {
  canonicalize,
  copyJson,
  type JsonObject,
  parseJson,
  readSessionReceipt,
  type SessionEntryToSign,
  type SessionReceipt,
  TallyError,
  toBase64url,
  utf8,
} from '@tallystick/core';
import { Refusal, type SessionRow } from '@tallystick/kit';
import type { SigningContext } from '../mint.ts';
import type { KeptStep, SessionStore } from './session-store.ts';

/** What signing a session's receipts needs of the service. */
export interface SessionContext extends SigningContext {
  readonly store: { readonly sessions: SessionStore };
}

/** A receipt of a session that somebody asks for. */
export interface Step {
  readonly entry: SessionEntryToSign;
  /** Whom the session belongs to, or is to belong to. */
  readonly owner: string;
  /** Of an opening: whether the closing is to be anchored. */
  readonly anchor: boolean;
}

/** Where a step belongs: behind the newest receipt, or where the same step was receipted before. */
export type Place =
  | { readonly kind: 'free'; readonly session: SessionRow; readonly seq: number }
  | { readonly kind: 'taken'; readonly receipt: string };

/**
 * Finds the place of a step. Resolves to `taken` where the step is the one that has the place.
 * @throws session_not_found for a session of somebody else too; session_conflict, which says what is next; session_closed,
 * session_key_changed, receipt_purged
 */
export async function findPlace(
  { store, issuer, clock }: SessionContext,
  { entry, owner, anchor }: Step,
): Promise<Place> {
  const { call } = entry;
  const { id, prev } = call.session;
  const seq = Number(call.session.seq);
  const opens = call.kind === 'session' && call.event === 'open';
  const newest = await store.sessions.newest(id);
  if (newest === null && opens) return { kind: 'free', session: { id, owner, anchor: anchor ? 1 : 0 }, seq };
  if (newest?.owner !== owner) {
    if (!opens) throw sessionNotFound();
    throw new TallyError('session_conflict', 'This id is taken. Draw another one.', { field: 'session_id' });
  }
  const head = readSessionReceipt(keptText(newest, clock()));
  const next = { id, seq: String(newest.seq + 1), prev: head.hash };
  if (seq <= newest.seq) {
    const earlier = await store.sessions.at(id, seq);
    const receipt = earlier && keptText(earlier, clock());
    if (receipt !== null && isOf(receipt, entry)) return { kind: 'taken', receipt };
    throw conflict(`Number ${seq} of this session is another receipt.`, next);
  }
  if (isClosing(head)) throw new TallyError('session_closed', 'This session is closed. Open a new one.');
  if (call.session.seq !== next.seq || prev !== next.prev) {
    throw conflict(`The next receipt of this session has number ${next.seq}, and prev ${next.prev}.`, next);
  }
  if (head.public_key !== toBase64url(issuer.signer('receipt').publicKey)) {
    const message = `The service signs with another key now, and a session has one. Open a new session that continues this one, with count ${next.seq} and head ${next.prev}.`;
    throw new Refusal('session_key_changed', message, { session: next });
  }
  const { anchor: kept } = newest;
  return { kind: 'free', session: { id, owner, anchor: kept }, seq };
}

/** Whether a receipt closes its session. */
export function isClosing({ call }: Pick<SessionReceipt, 'call'>): boolean {
  return call.kind === 'session' && call.event === 'close';
}

export function sessionNotFound(): TallyError {
  return new TallyError('session_not_found', 'You have no session with that id at this service.');
}

/** @throws receipt_purged */
export function keptText({ body, expiresAt }: KeptStep, now: number): string {
  if (body !== null && expiresAt > Math.floor(now / 1000)) return body;
  throw new TallyError(
    'receipt_purged',
    'The retention of this receipt of the session has ended. Your own copy still verifies; open a new session to go on.',
  );
}

/** @param session place of the next receipt */
function conflict(message: string, session: JsonObject): Refusal {
  return new Refusal('session_conflict', message, { field: 'call.session', session });
}

/** Whether a receipt was issued for a step. */
function isOf(receipt: string, { call, request, response }: SessionEntryToSign): boolean {
  const kept = parseJson(utf8(receipt)) as Record<'call' | 'request' | 'response', JsonObject>;
  return (
    canonicalize(kept.call) === canonicalize(copyJson(call)) &&
    kept.request['hash'] === request &&
    kept.response['hash'] === response
  );
}
