import { type JsonObject, parseJson, type SettlementReference, TallyError, utf8 } from '@tallystick/core';
import {
  type IdempotencyReader,
  type IdempotencyRecord,
  inSpan,
  keyInUseError,
  keyReusedError,
  type NewReceipt,
  type PutOutcome,
  type ReceiptRow,
  type Received,
  replayOf,
} from '@tallystick/kit';
import type { Claims } from '@tallystick/ledger';
import { hashOf } from './hash-of.ts';
import type { ReceiptOwner, ReceiptStore } from './receipt-store.ts';
import { keptReceipt } from './retention.ts';

/** Under whose account a receipt is issued, and what that does to it. Every kind of account says all of it. */
export interface Terms {
  /** Null where none is known. */
  readonly settlement: SettlementReference | null;
  /** The tenant whose key alone reads the receipt; null for a public one. */
  readonly tenant: string | null;
  /** Id of the receipt that the payment of this request was answered with before; null where it was not. */
  readonly paidFor: string | null;
  /** Whether completing a receipt counts it, or places it in the log, so that the same request must not run twice at once, in any process. */
  readonly counts: boolean;
  /** Runs the work that signs a receipt and keeps it. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** From the signed JCS text to the text that is kept: counts it, anchors it, and adds unsigned members that say so. */
  complete(signed: string, profile: ReceiptRow['profile']): Promise<string>;
  /** Keeps the receipt, with whatever its price moves, in one transaction. */
  put(row: NewReceipt, claim: IdempotencyRecord | undefined): Promise<PutOutcome>;
  /** Where the receipt is anchored, or is to be; null where it is not. */
  anchorRef(kept: { readonly receipt: string; readonly replayed: boolean }): Promise<string | null>;
  /** What is to be done once it is durable: notes that a payment was answered, and what the payer has left. */
  delivered(id: string, received: Received): Promise<void>;
}

/** A receipt that is signed and not yet kept. */
export interface Draft extends Pick<NewReceipt, 'id' | 'profile' | 'issuedAt' | 'expiresAt' | 'place'> {
  /** JCS text. */
  readonly signed: string;
  /**
   * The receipt that is there already under the same id, of a receipt whose id follows from its contents, or in the same
   * place of a session; null where there is none. Rejects where what is there is another receipt.
   */
  readonly earlier: () => Promise<string | null>;
}

/** The owner of a receipt that nobody may list. */
export const NOBODY: ReceiptOwner = { owner: null, key: null };

/** What is to be issued. */
export interface Issue {
  /** What an `Idempotency-Key`, or a payment, ties the answer to; undefined where nothing does. */
  readonly claim: IdempotencyRecord | undefined;
  /** Under whose account. */
  readonly terms: Terms;
  /** Whose list shows the receipt, see `NewReceipt`. */
  readonly owner: ReceiptOwner;
  /** Signs the receipt. It is not called for a request that was answered before. */
  readonly sign: () => Promise<Draft>;
}

/** A receipt that was issued now, or to an earlier request. */
export interface Issued {
  readonly id: string;
  /** JCS text. */
  readonly receipt: string;
  readonly replayed: boolean;
  /** Where it is anchored, or is to be; null where it is not. */
  readonly anchorRef: string | null;
}

interface IssueContext {
  readonly store: IdempotencyReader & Pick<ReceiptStore, 'getReceipt'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly claims: Pick<Claims, 'take'>;
}

/**
 * Issues a receipt under its terms. Resolves after it is durable. A repeated request is answered with the first one's
 * receipt, and neither counts, costs nor anchors again.
 * @throws idempotency_key_reused, idempotency_key_in_use, unavailable; what `sign` and the terms throw
 */
export async function issue(context: IssueContext, received: Received, request: Issue): Promise<Issued> {
  const { claim, terms } = request;
  const { incoming } = received;
  const once = async (): Promise<StoredReceipt> =>
    (await answeredBefore(context, request)) ?? terms.during(async () => keep(await request.sign(), request));
  const kept = await inSpan(incoming.span, 'issue receipt', () =>
    claim === undefined || !terms.counts ? once() : alone(context.claims, claim, once),
  );
  incoming.tell({ receipt: kept.id });
  await terms.delivered(kept.id, received);
  return { ...kept, anchorRef: await terms.anchorRef(kept) };
}

/** Milliseconds for which a request waits for another one with its key. */
const WAIT_MS = 20_000;

/** Runs the work while no other process has a request of the same claim under way, of which each would be counted. */
async function alone(
  claims: Pick<Claims, 'take'>,
  claim: IdempotencyRecord,
  work: () => Promise<StoredReceipt>,
): Promise<StoredReceipt> {
  const wait = AbortSignal.timeout(WAIT_MS);
  const claimed = await claims.take(claim, wait).catch((error: unknown) => {
    throw wait.aborted ? keyInUseError() : error;
  });
  if (claimed.kind === 'replayed') return replayed(claimed.response);
  try {
    return await work();
  } finally {
    claimed.release();
  }
}

type StoredReceipt = Omit<Issued, 'anchorRef'>;

async function answeredBefore(
  { store, clock }: IssueContext,
  { claim, terms }: Issue,
): Promise<StoredReceipt | null> {
  const earlier = await replayOf(store, claim, clock());
  if (earlier !== null) return replayed(earlier.response);
  // The claim of a payment may be forgotten before the receipt that it was answered with.
  const { paidFor } = terms;
  const found = paidFor === null ? null : await keptReceipt(store, paidFor, clock());
  return found?.kind === 'found' ? replayed(found.body) : null;
}

async function keep(draft: Draft, { claim, terms, owner }: Issue): Promise<StoredReceipt> {
  const { id, profile, signed } = draft;
  const earlier = await draft.earlier();
  if (earlier !== null) return replayed(earlier);
  const body = await terms.complete(signed, profile);
  const row = { ...rowOf(draft), ...owner, tenant: terms.tenant, body, anchored: () => hashOf(signed) };
  const outcome = await terms.put(row, claim);
  switch (outcome.kind) {
    case 'stored':
      return { id, receipt: body, replayed: false };
    case 'replayed':
      return replayed(outcome.response);
    case 'reused':
      throw keyReusedError();
    case 'id_taken':
    case 'place_taken': {
      const taken = await draft.earlier();
      if (taken !== null) return replayed(taken);
      throw noIdOfItsOwn();
    }
  }
}

/** A draft as it is kept without any terms: public, as it was signed. */
export function rowOf({ id, profile, issuedAt, expiresAt, place, signed }: Draft): NewReceipt {
  return { id, profile, tenant: null, body: signed, issuedAt, expiresAt, place };
}

export function noIdOfItsOwn(): TallyError {
  return new TallyError('unavailable', 'The receipt could not be given an id of its own. Try again.');
}

function replayed(receipt: string): StoredReceipt {
  return { id: idOf(receipt), receipt, replayed: true };
}

/** The id in a receipt's text: of an envelope, or of any other. */
function idOf(text: string): string {
  const { receipt_id, receipt } = parseJson(utf8(text)) as { receipt_id?: string; receipt?: JsonObject };
  const id = receipt_id ?? receipt?.['id'];
  if (typeof id === 'string') return id;
  throw new Error('A receipt that was kept has no id.');
}
