import { canonicalize, type JsonObject } from '@tallystick/core';
import type { IdempotencyRecord } from '../../store/store.ts';
import type { Caller } from '../caller.ts';
import { type Provider, ProviderError } from '../providers/provider.ts';
import type { Usage } from '../types.ts';
import { type Admitted, admitChat, bodyFor } from './admit.ts';
import { tryEach } from './attempt.ts';
import { hashText } from './call-receipt.ts';
import type { CallSignal } from './call-signal.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';
import { DeliveredText } from './delivered.ts';
import { publicFailure } from './provider-failure.ts';
import type { Open } from './reserve.ts';
import { type BilledCall, settleCall } from './settle.ts';
import { type Served, svcText, withSvc } from './svc.ts';
import { usageOf } from './usage-of.ts';

/** One call on its way. */
export interface Call<Request> {
  readonly request: Request;
  readonly caller: Caller;
  readonly signal: CallSignal;
  /** Go out with whatever is answered. */
  readonly headers: Record<string, string>;
  readonly claim: IdempotencyRecord | undefined;
  /** Has an x402 payment cover the call; null where payments are off or an API key pays. */
  readonly open: Open | null;
}

/** An answer in one piece. */
export interface Completed {
  readonly receiptId: string;
  /** JSON. */
  readonly text: string;
  readonly anchorRef: string | null;
  readonly replayed: boolean;
}

/** Answers a chat call that is not streamed. Nobody pays for what did not come. */
export async function completeChat(context: PipelineContext, call: Call<ChatRequest>): Promise<Completed> {
  const { request, caller, signal, open } = call;
  const admitted = await admitChat(context, request, caller, open);
  const { model, answer, failed } = await orRelease(context, admitted, call, () =>
    tryEach({ ...context, signal: signal.signal }, admitted.models, async (provider: Provider, model) => {
      const body = bodyFor(context, request, admitted.route.body, model);
      const answer = await provider.chat({ model: model.upstreamModel, body, signal: signal.signal });
      if (answer.kind === 'stream') throw new ProviderError('bad_answer', `${provider.name} streams unasked`);
      return answer;
    }),
  );
  context.health.success(model);
  const { svc: _svc, ...body } = answer.body;
  const text = canonicalize(body);
  const { prompt } = admitted.route;
  const usage = await usageOf(answer.usage, { model, prompt, delivered: () => textOf(body) });
  const routing = admitted.route.decision.explanation;
  return settleAnswer(context, call, { admitted, served: { model, failed }, usage, text, routing });
}

interface Answered {
  readonly admitted: Omit<Admitted, 'route'> & { readonly route: { readonly savedTokens: number } };
  readonly served: Served;
  readonly usage: Usage;
  /** JCS of the answer without `svc`. */
  readonly text: string;
  readonly routing: JsonObject | null;
}

/** Bills an answer in one piece, and adds `svc` to it. */
export async function settleAnswer(
  context: PipelineContext,
  { request, claim }: Call<{ readonly model: string; readonly anchor: boolean }>,
  { admitted, served, usage, text, routing }: Answered,
): Promise<Completed> {
  const { id, payer, reservation, payment, requestHash, tier } = admitted;
  const { savedTokens } = admitted.route;
  const finish = ({ receipt, billing }: BilledCall): string =>
    withSvc(text, svcText({ receipt, routing, served, savedTokens, billing }));
  const ended = {
    id,
    reservation,
    payment,
    model: served.model,
    requestedModel: request.model,
    usage,
    savedTokens,
    requestHash,
    responseHash: hashText(text),
    stream: false,
    complete: true,
    agent: payer.agent,
    accountKind: payer.kindOf,
    subject: payer.subject,
    tier,
    keyed: payer.key && { key: payer.key, anchor: request.anchor },
  };
  const settled = await settleCall(
    context,
    ended,
    (signed) => claim && { ...claim, response: finish(signed) },
  );
  await payment?.finish(settled.replayed === null ? id : null);
  if (settled.replayed !== null) return replayedAnswer(settled.replayed);
  return { receiptId: id, text: finish(settled), anchorRef: settled.receipt.anchorRef, replayed: false };
}

/** The answer in one piece to an earlier call, from its JSON text. */
export function replayedAnswer(text: string): Completed {
  const { svc } = JSON.parse(text) as { svc: { receipt: { receipt_id: string; anchor_ref?: string } } };
  const { receipt_id: receiptId, anchor_ref: anchorRef = null } = svc.receipt;
  return { receiptId, text, anchorRef, replayed: true };
}

/**
 * What `work` resolves to; what is put aside is given back where it fails, or where the client has left.
 * @throws what the caller is to be told
 */
export async function orRelease<T>(
  { ledger }: PipelineContext,
  { reservation, payment }: Pick<Admitted, 'reservation' | 'payment'>,
  { signal, headers }: Pick<Call<unknown>, 'signal' | 'headers'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    if (signal.left) throw new ProviderError('aborted', 'the client left');
    return result;
  } catch (error) {
    if (reservation.id !== null) await ledger.release(reservation.id);
    await payment?.finish(null);
    throw error instanceof ProviderError ? publicFailure(signal.reason(error), headers) : error;
  }
}

function textOf(body: JsonObject): string {
  const said = new DeliveredText();
  said.add(body);
  return said.text();
}
