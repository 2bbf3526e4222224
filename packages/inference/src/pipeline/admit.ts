import { type Caller, noteLimits, spendingOf } from '@tallystick/callers';
import { TallyError } from '@tallystick/core';
import type { Incoming } from '@tallystick/kit';
import { type MemberTier, tierOf, X402 } from '@tallystick/ledger';
import type { OpenPayment } from '@tallystick/payments';
import type { CallTrail } from '../calls/call-trail.ts';
import type { Model } from '../catalogue/catalogue.ts';
import type { ChatCall } from '../providers/provider.ts';
import { serviceTierOf } from '../providers/service-tier.ts';
import { limitedTo } from '../router/affordable.ts';
import { ceiling, type TariffTerms } from '../token-prices.ts';
import type { ChatBody } from '../types.ts';
import { type CallPayer, payerOf } from './call-payer.ts';
import { newCallId } from './call-receipt.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';
import type { KeyedCall } from './keyed-receipt.ts';
import { maxOutputOf } from './output-limit.ts';
import { type Candidate, type Open, type Reservation, type ReservationRequest, reserve } from './reserve.ts';
import { MAX_RESULT_TOKENS, maxRounds } from './retrieval.ts';
import { type Route, routeChat } from './route.ts';
import type { Prompt } from './token-bound.ts';
import { countPrompt } from './token-count.ts';

/** See `Call`. */
interface ToAdmit {
  readonly request: ChatRequest;
  readonly caller: Caller;
  readonly open: Open | null;
  readonly incoming: Pick<Incoming, 'note'>;
  readonly trail: CallTrail;
}

/** A call with a route and a reservation. */
export interface Admitted {
  readonly id: string;
  readonly route: Route;
  /** The models that the balance covers, in the order in which they are tried. */
  readonly models: readonly Model[];
  readonly reservation: Reservation;
  /** The x402 payment that covers the call; null if an account does. */
  readonly payment: OpenPayment | null;
  readonly payer: CallPayer;
  readonly tier: MemberTier;
}

/** What a call's receipt has of its API key; null where no key of a tier pays. */
export function keyedBy(
  { key }: Pick<CallPayer, 'key'>,
  { anchor }: { readonly anchor: boolean },
): KeyedCall | null {
  return key?.kind === 'apiKey' ? { key, anchor } : null;
}

/**
 * Routes a chat call and reserves its money, before anything is sent to a provider.
 * @throws routing's errors; insufficient_balance, budget_exceeded, rate_limited
 */
export async function admitChat(
  context: PipelineContext,
  { request, caller, open, incoming, trail }: ToAdmit,
): Promise<Admitted> {
  const payer = payerOf(caller);
  const { did } = payer.agent;
  const member = did === null ? null : context.ledger.member(did);
  const began = performance.now();
  const route = await routeChat(context, request, payer, { trail });
  trail.decision = route.decision;
  trail.ends('route', began);
  const { compression } = route;
  const saved = compression === null ? 0 : compression.tokensBefore - compression.tokensAfter;
  const asked = serviceTierOf(request.raw);
  const rounds = request.compression.retrieve ? 1 + maxRounds(compression?.removed ?? []) : 1;
  const { isUnbounded = false, turns = 1, addedTokens = 0 } = route.prompt;
  const candidatesFor = (promptTokens: number): Candidate[] =>
    [route.decision.model, ...route.decision.fallbacks].map((model) => {
      const output = maxOutputOf(context, request, model) * request.choices;
      const prompts =
        (promptTokens + addedTokens) * rounds + (MAX_RESULT_TOKENS + output) * ((rounds * (rounds - 1)) / 2);
      const most = isUnbounded ? Math.max(prompts, model.context * turns * rounds) : prompts;
      return {
        model,
        ceiling: ceilingOf(model, { promptTokens: most + saved, ...asked }, output * rounds),
        tokens: prompts + output * rounds,
      };
    });
  const reserving = performance.now();
  const { reservation, payment, id, models } = await reserveCall(context, payer, incoming, {
    open,
    candidates: candidatesFor(route.bound),
    exactly: async () => candidatesFor(await nearly(route.prompt, route.decision.model)),
  });
  trail.ends('reserve', reserving);
  const decision = limitedTo(route.decision, models);
  trail.decision = decision;
  return {
    id,
    route: { ...route, decision },
    models,
    reservation,
    payment,
    payer,
    tier: tierOf(await member),
  };
}

/**
 * Reserves what a call can cost, under an id of its own, and tells the caller what its limits leave.
 * @throws insufficient_balance, budget_exceeded, rate_limited
 */
export async function reserveCall(
  { ledger, process, clock, development, freeToAll, maxCallMs, budgets }: PipelineContext,
  { account, spenders }: CallPayer,
  incoming: Pick<Incoming, 'note'>,
  cost: Pick<ReservationRequest, 'candidates' | 'exactly' | 'open'>,
): Promise<Pick<Admitted, 'id' | 'reservation' | 'payment' | 'models'>> {
  if (account === X402 && !freeToAll && cost.candidates.every((one) => one.ceiling === 0n))
    throw unidentifiedCaller();
  const now = clock();
  const id = newCallId(now);
  // A minute more than any call can last.
  const expiresAt = Math.ceil((now + maxCallMs) / 1000) + 60;
  const { reservation, payment, candidates } = await reserve(ledger, {
    ...cost,
    id,
    spending: spendingOf(spenders, now),
    tell: (windows) => noteLimits(incoming, windows, now),
    budgetReached: (budget) => budgets.reached(account, budget),
    payer: account,
    development,
    expiresAt,
    process,
  });
  return { id, reservation, payment, models: candidates.map(({ model }) => model) };
}

function unidentifiedCaller(): TallyError {
  return new TallyError(
    'api_key_missing',
    'This is free for identified callers: send Authorization: Bearer k_…, or X-Agent-DID proved by an HTTP message signature.',
  );
}

/** The body for a model. It sets the output limit that money was reserved for, if the caller sets none. */
export function bodyFor(
  context: PipelineContext,
  request: ChatRequest,
  body: ChatBody,
  model: Model,
): ChatBody {
  if (request.maxOutput !== null) return body;
  return { ...body, max_completion_tokens: maxOutputOf(context, request, model) };
}

/** See `ChatCall`. */
export function translatedFor({ protocol }: ChatRequest, { abilities }: Model): ChatCall['translated'] {
  return protocol.answerOf === null ? undefined : { reasons: abilities.has('reasoning') };
}

/** 0 if the model is free. */
export function ceilingOf({ price }: Model, terms: TariffTerms, outputTokens: number): bigint {
  const free = price.inputPerMTok === 0n && price.outputPerMTok === 0n;
  return free ? 0n : ceiling(price, terms, outputTokens);
}

/** Tokenizers differ, and some are not public: a tenth more than counted. */
async function nearly(prompt: Prompt, { tokenizer }: Model): Promise<number> {
  return Math.ceil((await countPrompt(prompt, tokenizer)) * 1.1);
}
