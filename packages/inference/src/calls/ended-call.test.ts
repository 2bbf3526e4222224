import { expect, it } from 'vitest';
import type { CandidateRecord, RouteExplanation } from '../router/record.ts';
import { CallTrail } from './call-trail.ts';
import { type EndedCall, newCallOf } from './ended-call.ts';

const candidate = (model: string): CandidateRecord => ({
  model,
  provider: 'p',
  context: 1_000,
  max_output: 100,
  abilities: ['json'],
  input_price: '1',
  output_price: '2',
  prior: 0.5,
  available: true,
});

const explanation = (candidates: readonly CandidateRecord[], tokens: number): RouteExplanation => ({
  version: 1,
  inputs: {
    weights: 'w',
    requested: 'auto',
    prompt_tokens: tokens,
    max_output_tokens: 0,
    cost_quality: 5,
    needs: [],
    order: ['a "quoted" name'],
    only: null,
    ignore: [],
    max_price: { prompt: null, completion: null },
    pinned: null,
    domain: 'general',
    features: null,
    candidates,
    unaffordable: [],
  },
  outcome: {
    model: 'p/a',
    fallbacks: [],
    why: 'best_score',
    best_single: 'p/a',
    difficulty: null,
    scores: [],
  },
});

function ended(route: RouteExplanation | null): EndedCall {
  const trail = new CallTrail();
  trail.ends('route', performance.now());
  if (route !== null) trail.decision = { model: {} as never, fallbacks: [], explanation: route };
  return {
    id: 'r',
    owner: 'caller:a',
    at: 1,
    receiptId: 'r',
    model: 'p/a',
    requestedModel: 'auto',
    provider: 'p',
    routeReason: null,
    stream: 0,
    promptTokens: 1,
    completionTokens: 1,
    cachedTokens: 0,
    cost: 0n,
    saving: 0n,
    firstByteMs: null,
    totalMs: 1,
    status: 200,
    errorCode: null,
    did: null,
    key: null,
    session: null,
    tags: null,
    requestHash: null,
    trail,
    billing: { account: 'api_key' },
    compression: null,
  };
}

it('writes texts that PostgreSQL stores', () => {
  const call = { ...ended(null), requestedModel: 'a\0b', session: 's\0', tags: { team: '\0' } };
  expect(newCallOf(call)).toMatchObject({
    requestedModel: 'a\ufffdb',
    session: 's\ufffd',
    tags: '{"team":"\ufffd"}',
  });
});

const detailOf = (call: EndedCall): unknown => JSON.parse(newCallOf(call).detail ?? '');

it('writes all of a call, whether its route’s candidates were written before or not', () => {
  const one = [candidate('p/a'), candidate('p/b')];
  for (const route of [
    explanation(one, 10),
    explanation(one, 20),
    explanation([candidate('p/c')], 30),
    null,
    explanation(one, 40),
  ]) {
    const call = ended(route);
    expect(detailOf(call)).toEqual({
      timeline: call.trail.steps,
      tries: [],
      answered: null,
      routing: route,
      billing: { account: 'api_key' },
      compression: null,
    });
  }
});
