import { utf8 } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMemo } from './memo.ts';

describe('a memo', () => {
  const fields = { tier: 'pro', contact: 'a+b@example.com' };

  it.each([
    ['tier=pro contact=a+b@example.com', fields],
    ['tier=pro&contact=a+b@example.com', fields],
    ['tier=pro;contact=a+b@example.com;', fields],
    ['  tier=pro,\n contact=a+b@example.com\n', fields],
    ['{"contact":"a+b@example.com","tier":"pro"}', fields],
    [' {"contact":"a+b@example.com","tier":"pro","more":{"x":[1]}} ', fields],
    ['tier=pro contact=a+b@example.com order=7\0\0\0', fields],
    ['issuer_did=did:key:z6Mk', { issuer_did: 'did:key:z6Mk' }],
    ['account=key_0123456789abcdef', { account: 'key_0123456789abcdef' }],
    ['key=key_0123456789abcdef', { key: 'key_0123456789abcdef' }],
  ])('%j is read', (text, expected) => {
    expect(readMemo(utf8(text))).toEqual({ kind: 'read', fields: expected });
  });

  it.each([null, new Uint8Array(), new Uint8Array(31)])('of nothing but padding is none', (bytes) => {
    expect(readMemo(bytes)).toEqual({ kind: 'none' });
  });

  it.each([
    'hello',
    'tier',
    'tier=',
    '=pro',
    'tier=pro tier=pro',
    'tier=pro hello',
    'note=1',
    '{"tier":"pro"',
    '{"tier":1}',
    '{"tier":""}',
    '{"tier":"pro","tier":"scale"}',
    'key=key_\0x',
    '{"account":"\\u0000"}',
    '["tier"]',
    '{}',
    `tier=pro note=${'x'.repeat(2_048)}`,
  ])('%j is broken', (text) => {
    expect(readMemo(utf8(text))).toEqual({ kind: 'broken' });
  });

  it('of any bytes is read, broken or none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(['none', 'broken', 'read']).toContain(readMemo(bytes).kind);
      }),
    );
  });
});
