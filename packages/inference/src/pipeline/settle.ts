import { type JsonObject, TallyError } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { IdempotencyRecord, Incoming, ReceiptRow } from '@tallystick/kit';
import { inSpan, keyReusedError } from '@tallystick/kit';
import type { LedgerStore, Settlement } from '@tallystick/ledger';
import { formatUsdc, type MemberTier, SPREAD_PERCENT, X402 } from '@tallystick/ledger';
import type { AnchorLog } from '@tallystick/log';
import type { OpenPayment } from '@tallystick/payments';
import type { OperatorFacts } from '@tallystick/receipts';
import type { Logger } from 'pino';
import { billingDocument } from '../billing.ts';
import type { CallTrail } from '../calls/call-trail.ts';
import type { CallSink, ListedRequest } from '../calls/ended-call.ts';
import type { KeptContents, SentAndAnswered } from '../calls/kept-contents.ts';
import type { Model } from '../catalogue/catalogue.ts';
import type { Learning } from '../learning/learning.ts';
import type { Lesson } from '../learning/settled-call.ts';
import type { ComputeMetrics } from '../metrics.ts';
import { type Bill, billEntries, capBill, priceCall } from '../token-prices.ts';
import type { Usage } from '../types.ts';
import type { CallPayer } from './call-payer.ts';
import { mintCallReceipt } from './call-receipt.ts';
import {
  type CompressionSummary,
  compressionDocument,
  compressionFacts,
  NOT_COMPRESSED,
  NOTHING_SAVED,
  savedBy,
  savingIn,
} from './compression-summary.ts';
import { type KeyedCall, type KeyedReceipt, keyedReceipt } from './keyed-receipt.ts';
import { type Reservation, unreserved } from './reserve.ts';
import { claimedOf, costOfMore, type Rounds, totalOf } from './rounds.ts';

export interface SettleContext {
  /** Lists calls that have ended. */
  readonly calls: CallSink;
  /** Keeps prompts and answers for callers who ask for it. */
  readonly contents: Pick<KeptContents, 'keepsFor' | 'push'>;
  readonly ledger: LedgerStore;
  /** Id of this process's lease, which also ends its reservations. */
  readonly process: string;
  readonly log: Pick<AnchorLog, 'accept'>;
  readonly metrics: ComputeMetrics;
  readonly learning: Pick<Learning, 'settled'>;
  readonly logger: Logger;
  readonly issuer: OwnIssuer;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly operator: OperatorFacts;
}

/** A call that has ended, whatever it delivered. */
export interface CallEnding {
  readonly id: string;
  /** The request that it came with, which is told what came of it. */
  readonly incoming: Pick<Incoming, 'span' | 'tell'>;
  readonly reservation: Reservation;
  /** The x402 payment that covers it; null if an account does. */
  readonly payment: Pick<OpenPayment, 'id' | 'payer' | 'network'> | null;
  readonly model: Model;
  readonly request: ListedRequest;
  readonly trail: CallTrail;
  /** Code of what ended a stream early; absent or null if nothing did. */
  readonly errorCode?: string | null;
  /** The provider's calls for the answer. */
  readonly rounds: Rounds;
  readonly compression: CompressionSummary | null;
  readonly requestHash: string;
  readonly responseHash: string;
  readonly stream: boolean;
  readonly complete: boolean;
  /** Who made the call, and was to pay for it. */
  readonly payer: CallPayer;
  readonly tier: MemberTier;
  readonly keyed: KeyedCall | null;
  /** Null of a call of which nothing is learned, as of embeddings. */
  readonly lesson: Lesson | null;
  /** What it sent and delivered, for callers who have that kept. */
  readonly content: () => SentAndAnswered;
}

/** What an answer says of its bill, whole. */
export interface BilledCall {
  readonly receipt: KeyedReceipt;
  readonly billing: JsonObject;
  /** The contents of `svc.compression`. */
  readonly compression: JsonObject;
}

export interface Settled extends BilledCall {
  /**
   * The answer to another call with the same key that was billed first; then this one costs nothing. Always null for a
   * stream.
   */
  readonly replayed: string | null;
}

interface Signed extends BilledCall {
  readonly bill: Bill;
  readonly usage: Usage;
  readonly lostCacheTokens: number;
  readonly row: ReceiptRow;
  /** Unix milliseconds at which the receipt was issued. */
  readonly at: number;
}

/**
 * Bills a call: one transaction for the money, the receipt, the usage and the member's job. Resolves once it is
 * durable. If another call under the same key was billed meanwhile, because this process lost its claim of the key, an
 * answer in one piece is replaced by that one's. A stream has been delivered: it gets its receipt, and costs nothing.
 * @param idempotency the record of the caller's key, for the answer of the call
 * @throws idempotency_key_reused, unavailable
 */
export function settleCall(
  context: SettleContext,
  ended: CallEnding,
  idempotency: (signed: BilledCall) => IdempotencyRecord | undefined,
): Promise<Settled> {
  return inSpan(ended.incoming.span, 'issue receipt', () => settle(context, ended, idempotency));
}

async function settle(
  context: SettleContext,
  ended: CallEnding,
  idempotency: (signed: BilledCall) => IdempotencyRecord | undefined,
): Promise<Settled> {
  const began = performance.now();
  const attempt = async (
    reservation: Reservation,
    keyed = true,
  ): Promise<Settled | 'unreserved' | 'billed_elsewhere'> => {
    const signed = await signBill(context, { ...ended, reservation });
    const { receipt, billing, compression } = signed;
    const record = keyed ? idempotency({ receipt, billing, compression }) : undefined;
    const outcome = await context.ledger.settle(settlementOf(ended, reservation, signed, record));
    if (outcome === 'settled' || outcome === 'settled_before') {
      context.metrics.billed(ended.model, signed.usage, ended.complete);
      reportDoubts(context, ended);
      tellBill(ended, signed);
      learn(context, ended, signed);
      list(context, ended, signed, began);
      keep(context, ended);
      if (ended.compression !== null) context.metrics.saved(ended.compression, signed.lostCacheTokens);
      return { receipt, billing, compression, replayed: null };
    }
    if (outcome === 'unreserved') return 'unreserved';
    if (typeof outcome === 'string') {
      throw new TallyError('unavailable', 'The receipt could not be given its id.');
    }
    if (ended.stream) return 'billed_elsewhere';
    if (outcome.kind === 'reused') throw keyReusedError();
    return { receipt, billing, compression, replayed: outcome.response };
  };

  let outcome = await attempt(ended.reservation);
  if (outcome === 'unreserved') outcome = await attempt(await again(context, ended));
  if (outcome === 'billed_elsewhere') outcome = await attempt(unreserved(ended.reservation.payer), false);
  if (typeof outcome === 'string') throw new TallyError('unavailable', 'The call could not be billed.');
  return outcome;
}

function learn(
  { learning, metrics }: SettleContext,
  { id: receiptId, model, rounds, complete, lesson }: CallEnding,
  { bill }: Signed,
): void {
  if (lesson === null) return;
  if (lesson.arm !== null) metrics.compared(lesson.arm, bill.charge);
  if (complete) learning.settled({ receiptId, model, rounds, lesson });
}

function tellBill(
  { id, incoming, model }: CallEnding,
  { usage: { promptTokens, completionTokens }, bill }: Signed,
): void {
  const { provider } = model;
  const chargedUsdc = formatUsdc(bill.charge);
  incoming.tell({ receipt: id, model: model.id, provider, promptTokens, completionTokens, chargedUsdc });
}

/** Hands a call that is billed to the list of calls. @param began what `performance.now()` said before it was billed */
function list({ calls }: SettleContext, ended: CallEnding, signed: Signed, began: number): void {
  const { id, model, request, trail, payer } = ended;
  const { bill, usage, billing, compression, at } = signed;
  trail.isListed = true;
  trail.ends('settle', began);
  calls.push({
    id,
    owner: payer.account,
    at,
    receiptId: id,
    model: model.id,
    requestedModel: request.model,
    provider: model.provider,
    routeReason: trail.decision?.explanation.outcome.why ?? null,
    stream: ended.stream ? 1 : 0,
    promptTokens: usage.promptTokens,
    completionTokens: usage.completionTokens,
    cachedTokens: usage.cachedTokens,
    cost: bill.charge,
    saving: bill.saving,
    firstByteMs: trail.firstByteMs,
    totalMs: trail.elapsed(),
    status: 200,
    errorCode: ended.errorCode ?? null,
    did: payer.agent.did,
    key: payer.key?.id ?? null,
    session: request.session ?? null,
    tags: request.tags,
    requestHash: ended.requestHash,
    trail,
    billing,
    compression,
  });
}

/** Whether prompt and answer are to be kept: the call, else its key, asks for it, and the operator allows it. */
export function isKept(
  { contents }: Pick<SettleContext, 'contents'>,
  { request, payer }: Pick<CallEnding, 'request' | 'payer'>,
): boolean {
  return (request.keep ?? payer.key?.keep ?? false) && contents.keepsFor(payer.account);
}

/** Hands prompt and answer over to be kept, if they are to be. */
function keep(context: SettleContext, ended: CallEnding): void {
  if (!isKept(context, ended)) return;
  const { id, request, payer, content } = ended;
  context.contents.push({
    id,
    owner: payer.account,
    key: payer.key?.id ?? null,
    request: request.raw,
    ...content(),
  });
}

/** Reports to the operator which of the provider's counts were not believed. */
function reportDoubts({ metrics, logger }: SettleContext, { id, model, rounds }: CallEnding): void {
  for (const { doubt, promptTokens, completionTokens } of rounds) {
    if (doubt === undefined) continue;
    const { why, claimed } = doubt;
    metrics.doubted(model, why);
    const reported = claimed && { prompt: claimed.promptTokens, completion: claimed.completionTokens };
    const billed = { prompt: promptTokens, completion: completionTokens };
    const facts = { provider: model.provider, model: model.id, receipt: id, why, reported, billed };
    logger.warn(facts, 'a provider reported an implausible token count');
  }
}

/** A new reservation for one that was lost; none if the balance no longer covers it, and then the service pays. */
async function again({ ledger, process, clock }: SettleContext, ended: CallEnding): Promise<Reservation> {
  const { payer, amount, spenders } = ended.reservation;
  const id = `${ended.id}/2`;
  const expiresAt = Math.floor(clock() / 1000) + 60;
  const outcome = await ledger.reserve({ id, account: payer, amount, expiresAt, process });
  return outcome.kind === 'reserved'
    ? { id, payer, amount, dust: outcome.dust, available: null, spenders }
    : unreserved(payer, { spenders });
}

async function signBill(context: SettleContext, ended: CallEnding): Promise<Signed> {
  const { reservation, rounds, model, compression, tier } = ended;
  const { amount, dust } = reservation;
  const usage = totalOf(rounds);
  const claimed = claimedOf(rounds);
  const { price } = model;
  const saved = compression === null ? NOTHING_SAVED : savingIn(compression, model, rounds[0]);
  const sharePercent = SPREAD_PERCENT[tier];
  const bill = capBill(
    priceCall({
      price,
      rounds,
      ...(claimed !== undefined && { claimed }),
      gross: saved.gross,
      lost: saved.lostCache + costOfMore(price, rounds),
      sharePercent,
      member: memberOf(ended),
      dust,
    }),
    amount,
  );
  const account = ended.payer.kindOf(reservation.payer);
  const now = context.clock();
  const { text, row } = await mintCallReceipt(
    context.issuer,
    {
      receiptId: ended.id,
      requestHash: ended.requestHash,
      responseHash: ended.responseHash,
      model,
      requestedModel: ended.request.model,
      stream: ended.stream,
      complete: ended.complete,
      agent: ended.payer.agent,
      usage,
      bill,
      account,
      compression: compressionFacts(compression, bill),
      payment: ended.payment,
    },
    { now, operator: context.operator },
  );
  const receipt = await keyedReceipt(context, ended.keyed, text);
  const billing = billingDocument({
    bill,
    usage,
    rounds,
    price,
    account,
    reserved: amount,
    tier,
    sharePercent,
  });
  const { lostCacheTokens } = saved;
  return {
    bill,
    usage,
    lostCacheTokens,
    receipt,
    billing,
    compression:
      compression === null ? NOT_COMPRESSED : compressionDocument(compression, usage, lostCacheTokens),
    row: { ...row, body: receipt.text },
    at: now,
  };
}

function memberOf({ tier, payer }: CallEnding): string | null {
  return tier === 'unregistered' ? null : payer.agent.did;
}

function settlementOf(
  ended: CallEnding,
  { id: reservationId, payer, spenders }: Reservation,
  { bill, usage, lostCacheTokens, row }: Signed,
  idempotency: IdempotencyRecord | undefined,
): Settlement {
  const { id, model, compression, complete } = ended;
  const { subject, account: owner, key } = ended.payer;
  const saved = compression === null ? null : savedBy(compression, usage.promptTokens, lostCacheTokens);
  const member = memberOf(ended);
  return {
    id,
    reservationId,
    at: row.issuedAt,
    entries: billEntries(bill, { payer, provider: model.provider, member }),
    dust: bill.dust,
    usage: {
      subject,
      model: model.id,
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      cachedTokens: usage.cachedTokens,
      charged: bill.charge,
      savedTokens: saved === null ? 0 : saved.tokensBefore - saved.tokensAfter,
      saving: bill.saving,
      share: bill.share + bill.discount,
    },
    owner,
    spenders,
    compression: saved,
    // A job is a completed call that was paid.
    jobOf: complete && bill.charge > 0n ? member : null,
    // Whoever only pays by x402 has no account that could list the receipt.
    receipt: { ...row, owner: owner === X402 ? null : owner, key: key?.id ?? null },
    idempotency,
  };
}
