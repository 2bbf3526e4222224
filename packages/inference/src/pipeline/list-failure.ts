import { randomBytes } from 'node:crypto';
import { type ErrorCode, errorTable, TallyError } from '@tallystick/core';
import type { CallSink, ListedRequest } from '../calls/ended-call.ts';
import { payerOf } from './call-payer.ts';
import type { Call } from './complete.ts';

/** Hands a call that failed before anything was billed to the list of calls. @param now Unix milliseconds */
export function listFailure(
  sink: CallSink,
  { request, caller, trail }: Pick<Call<ListedRequest>, 'request' | 'caller' | 'trail'>,
  error: unknown,
  now: number,
): void {
  if (trail.isListed) return;
  trail.isListed = true;
  const { account: owner, agent, key } = payerOf(caller);
  const code: ErrorCode = error instanceof TallyError ? error.code : 'internal';
  const { decision } = trail;
  sink.push({
    id: `call_${Math.floor(now / 1_000)}_${randomBytes(6).toString('hex')}`,
    owner,
    at: now,
    receiptId: null,
    model: decision?.model.id ?? null,
    requestedModel: request.model,
    provider: decision?.model.provider ?? null,
    routeReason: decision?.explanation.outcome.why ?? null,
    stream: request.stream === true ? 1 : 0,
    promptTokens: null,
    completionTokens: null,
    cachedTokens: null,
    cost: 0n,
    saving: 0n,
    firstByteMs: trail.firstByteMs,
    totalMs: trail.elapsed(),
    status: errorTable[code].status,
    errorCode: code,
    did: agent.did,
    key: key?.id ?? null,
    session: request.session ?? null,
    tags: request.tags,
    requestHash: null,
    trail,
    billing: null,
    compression: null,
  });
}
