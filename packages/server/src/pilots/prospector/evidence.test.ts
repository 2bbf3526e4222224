import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excerptOf } from './evidence.ts';

const excerpt = (text: string): string => excerptOf(Buffer.from(text));

describe('an excerpt', () => {
  it.each([
    ['an API key of a service like this', `key k_par_${'A'.repeat(32)} end`],
    ['one behind a colour', `\u001b[31mk_ten_${'A'.repeat(32)}\u001b[0m`],
    ['a provider’s key', `sk-${'A'.repeat(40)}`],
    ['a token of a forge', `ghp_${'A'.repeat(36)}`],
    ['a cloud’s key id', `AKIA${'A'.repeat(16)}`],
    ['a JWT', `eyJhbGciOiJIUzI1NiJ9.${'A'.repeat(30)}.${'A'.repeat(20)}`],
    ['an echoed header', `Authorization: Bearer ${'A'.repeat(30)}`],
    ['a password', `{"user":"x","password" : "${'A'.repeat(30)}"}`],
    ['a token with an escape', `{"access_token":"\\"${'A'.repeat(30)}"}`],
    ['a private key', `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n-----END PRIVATE KEY-----`],
    ['a key that the cut would halve', `${'x '.repeat(95)}k_pro_${'A'.repeat(32)}`],
  ])('holds no part of %s', (_, text) => {
    expect(excerpt(text)).not.toContain('AAAA');
  });

  it('keeps what is no secret', () => {
    expect(excerpt('{"code":"not_found",\n\t"token_type":"x"}')).toBe(
      '{"code":"not_found", "token_type":"x"}',
    );
  });

  it('is one printable line of at most 200 bytes, of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        const text = excerptOf(bytes);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(200);
        expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\n]/u);
      }),
    );
  });
});
