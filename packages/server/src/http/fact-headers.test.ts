import { type ErrorCode, TallyError } from '@tallystick/core';
import { Refusal } from '@tallystick/kit';
import { describe, expect, test } from 'vitest';
import { refusalHeaders } from './fact-headers.ts';

describe('clients are told not to repeat a request', () => {
  const table: [string, ErrorCode, number | undefined, boolean][] = [
    ['in a minute it may pass', 'rate_limited', 60, false],
    ['it passes in hours at the soonest', 'budget_exceeded', 61, true],
    ['models rest for hours', 'no_model_available', 3_600, true],
    ['no wait helps', 'rate_limited', undefined, true],
    ['the provider doesn’t say when', 'provider_rate_limited', undefined, false],
    ['another request has the key', 'idempotency_key_in_use', 5, false],
    ['the answer was given and not kept', 'already_answered', undefined, true],
    ['the handle stays taken', 'issuer_exists', undefined, true],
    ['the provider failed', 'provider_failed', undefined, false],
  ];
  test.each(table)('%s: %s after %s s', (_, code, retryAfter, told) => {
    const thrown = new Refusal(code, 'Refused.', { retryAfter });
    expect(refusalHeaders(thrown)['x-should-retry']).toBe(told ? 'false' : undefined);
  });

  test('of an error without facts too, and of no foreign one', () => {
    expect(refusalHeaders(new TallyError('already_answered', 'Refused.'))).toEqual({
      'x-should-retry': 'false',
    });
    expect(refusalHeaders(new Error('A fault of ours.'))).toEqual({});
  });
});
