import type { ApiKey, Caller } from '@tallystick/callers';
import { TallyError } from '@tallystick/core';
import { DEVELOPMENT, type MemberTier, tierOf, X402 } from '@tallystick/ledger';
import { type OpenPayment, paymentAccount } from '@tallystick/payments';
import type { Model } from '../catalogue/catalogue.ts';
import type { ChatCall } from '../providers/provider.ts';
import { limitedTo } from '../router/affordable.ts';
import { ceiling } from '../token-prices.ts';
import type { ChatBody } from '../types.ts';
import { newCallId } from './call-receipt.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';
import { maxOutputOf } from './output-limit.ts';
import { type Candidate, type Open, type Reservation, type ReservationRequest, reserve } from './reserve.ts';
import { MAX_RESULT_TOKENS, maxRounds } from './retrieval.ts';
import { type Route, routeChat } from './route.ts';
import type { Prompt } from './token-bound.ts';
import { countPrompt } from './token-count.ts';

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

/** The account that pays for a call, and the subject of its usage. */
export interface CallPayer {
  readonly account: string;
  readonly subject: string;
  readonly agent: { readonly did: string | null; readonly proved: boolean };
  /** Null if no API key pays. */
  readonly key: ApiKey | null;
  /** The kind of the account that finally pays: `api_key`, `did`, `x402` or `development`. */
  readonly kindOf: (account: string) => string;
}

export function payerOf({ account: own, key, did, proved }: Caller): CallPayer {
  const kind = key === null ? 'did' : 'api_key';
  return {
    account: own,
    subject: did ?? key?.id ?? (own === X402 ? X402 : DEVELOPMENT),
    agent: { did, proved },
    key,
    kindOf: (account) =>
      account === DEVELOPMENT || account === X402 ? account : account.startsWith(PAID) ? X402 : kind,
  };
}

const PAID = paymentAccount('');

/**
 * Routes a chat call and reserves its money, before anything is sent to a provider.
 * @throws routing's errors; insufficient_balance
 */
export async function admitChat(
  context: PipelineContext,
  request: ChatRequest,
  caller: Caller,
  open: Open | null,
): Promise<Admitted> {
  const payer = payerOf(caller);
  const { did } = payer.agent;
  const member = did === null ? null : context.ledger.member(did);
  const route = await routeChat(context, request, payer.account);
  const { compression } = route;
  const saved = compression === null ? 0 : compression.tokensBefore - compression.tokensAfter;
  const rounds = request.compression.retrieve ? 1 + maxRounds(compression?.removed ?? []) : 1;
  const candidatesFor = (promptTokens: number): Candidate[] =>
    [route.decision.model, ...route.decision.fallbacks].map((model) => {
      const output = maxOutputOf(context, request, model) * request.choices;
      const prompts = promptTokens * rounds + (MAX_RESULT_TOKENS + output) * ((rounds * (rounds - 1)) / 2);
      return { model, ceiling: ceilingOf(model, prompts + saved, output * rounds) };
    });
  const { reservation, payment, id, models } = await reserveCall(context, payer, {
    open,
    candidates: candidatesFor(route.bound),
    exactly: async () => candidatesFor(await nearly(route.prompt, route.decision.model)),
  });
  return {
    id,
    route: { ...route, decision: limitedTo(route.decision, models) },
    models,
    reservation,
    payment,
    payer,
    tier: tierOf(await member),
  };
}

/** Reserves what a call can cost, under an id of its own. @throws insufficient_balance */
export async function reserveCall(
  { ledger, process, clock, development, freeToAll, maxCallMs }: PipelineContext,
  { account }: CallPayer,
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
export function ceilingOf({ price }: Model, promptTokens: number, outputTokens: number): bigint {
  const free = price.inputPerMTok === 0n && price.outputPerMTok === 0n;
  return free ? 0n : ceiling(price, promptTokens, outputTokens);
}

/** Tokenizers differ, and some are not public: a tenth more than counted. */
async function nearly(prompt: Prompt, { tokenizer }: Model): Promise<number> {
  return Math.ceil((await countPrompt(prompt, tokenizer)) * 1.1);
}
