import type { NewCall } from '@tallystick/inference';
import { ACCOUNT } from './ledger-fixtures.ts';

export function newCall(at: number, change: Partial<NewCall> = {}): NewCall {
  return {
    id: `r_env_${String(at).padStart(10, '0')}_0`,
    owner: ACCOUNT,
    at,
    receiptId: 'r',
    model: 'openai/small',
    requestedModel: 'auto',
    provider: 'openai',
    routeReason: 'best_score',
    stream: 0,
    promptTokens: 10,
    completionTokens: 5,
    cachedTokens: 2,
    cost: 7n,
    saving: 0n,
    firstByteMs: 12,
    totalMs: 34,
    status: 200,
    errorCode: null,
    did: null,
    key: 'key_a',
    session: null,
    tags: null,
    requestHash: null,
    detail: null,
    ...change,
  };
}
