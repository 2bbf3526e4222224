import { describe, expect, it } from 'vitest';
import { apiKeyHasher, GRANTS, isApiKey, newApiKey, newApiKeyId } from './api-key.ts';

const SECRET = new Uint8Array(32).fill(1);

describe('an API key', () => {
  it.each([
    ['pro', /^k_pro_[0-9A-Za-z]{32}$/],
    ['scale', /^k_scale_[0-9A-Za-z]{32}$/],
    ['enterprise', /^k_ent_[0-9A-Za-z]{32}$/],
    ['partner', /^k_par_[0-9A-Za-z]{32}$/],
    ['tenant', /^k_ten_[0-9A-Za-z]{32}$/],
    ['calls', /^k_call_[0-9A-Za-z]{32}$/],
  ] as const)('of %s has its prefix and 32 random characters', (grant, form) => {
    const keys = Array.from({ length: 500 }, () => newApiKey(grant));
    for (const key of keys) {
      expect(key).toMatch(form);
      expect(isApiKey(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(500);
    expect(new Set(keys.map((key) => key.slice(-32)).join('')).size).toBe(62);
  });

  it.each([
    '',
    'k_pro_',
    `k_pro_${'a'.repeat(31)}`,
    `k_pro_${'a'.repeat(33)}`,
    `k_pro_${'a'.repeat(31)}-`,
    `k_pro_${'a'.repeat(31)}é`,
    `k_free_${'a'.repeat(32)}`,
    `K_PRO_${'a'.repeat(32)}`,
    ` k_pro_${'a'.repeat(32)}`,
    `k_pro_${'a'.repeat(32)}\n`,
  ])('is not %j', (text) => {
    expect(isApiKey(text)).toBe(false);
  });

  it('is kept as HMAC-SHA256 under the secret', () => {
    // printf k_pro_… | openssl dgst -sha256 -mac HMAC -macopt hexkey:0101…01
    const hash = apiKeyHasher(SECRET);
    const zeros = `k_pro_${'0'.repeat(32)}`;
    const known = '90c2fa64ca84b27b021912dc17cbfac414d8fe2243a8e0cfd1b4eff2dd589bae';
    expect([hash(zeros), hash(newApiKey('pro')) === known, hash(zeros)]).toEqual([known, false, known]);
    const hashes = GRANTS.map((grant) => apiKeyHasher(SECRET)(newApiKey(grant)));
    expect(new Set(hashes).size).toBe(6);
    expect(apiKeyHasher(new Uint8Array(32))('k')).not.toBe(apiKeyHasher(SECRET)('k'));
  });

  it('has a public name of its own', () => {
    const ids = Array.from({ length: 500 }, newApiKeyId);
    for (const id of ids) expect(id).toMatch(/^key_[0-9a-z]{16}$/);
    expect(new Set(ids).size).toBe(500);
  });
});
