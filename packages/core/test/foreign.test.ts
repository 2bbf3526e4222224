import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ForeignCase } from '../../../scripts/vectors/foreign.ts';
import { foreignFamilies, type VerifyForeignOptions, verifyForeign } from '../src/foreign/index.ts';
import { fromHex, type JsonObject, parseJson, trustOf } from '../src/index.ts';
import { readVectors, stores } from './receipt-vectors.ts';

const fixtures = new URL('../../../spec/acta/', import.meta.url);
const fixture = (path: string): string => readFileSync(new URL(path, fixtures), 'utf8');
const now = Date.parse('2026-11-01T00:00:00Z');

interface TrustFixture {
  readonly expected_verifier_output: 'valid' | 'invalid' | 'deny';
  readonly header_value: { readonly delegation_chain: object[]; readonly attestations: object[] };
}

describe('Acta’s own fixtures', () => {
  const jwks = fixture('aps-gateway-enforcement/jwks.json');
  const gateway = ['2-external-verification/receipt', '3-state-drift/receipt', '4-portability/receipt'];
  const signed = [...gateway, '4-portability/intoto-envelope'].map(
    (name) => `aps-gateway-enforcement/${name}.json`,
  );

  test.each(signed)('%s is valid under its key', async (path) => {
    expect(await verifyForeign(fixture(path), { now, keys: [jwks] })).toMatchObject({
      valid: true,
      issuer: { trusted: true },
    });
  });

  test.each(signed.slice(2))('%s, any byte of it altered, is not', async (path) => {
    expect(await unnoticed(fixture(path), { now, keys: [jwks] })).toEqual([]);
  });

  const headers = ['happy-path', 'trust-level-ascending', 'trust-level-descending', 'shared-card-crossorg'];
  test.each([...headers, 'drift-explicit-flag', 'revocation-mid-chain'])('%s is as it says', async (name) => {
    const { expected_verifier_output: output, header_value } = JSON.parse(
      fixture(`a2a-trust-header/${name}.json`),
    ) as TrustFixture;
    const verdict = await verifyForeign(JSON.stringify(header_value), { now });
    const { valid, integrity } = verdict ?? {};
    expect({ valid, integrity }).toEqual({ valid: output === 'valid', integrity: output !== 'invalid' });
  });

  test('any altered byte of a delegation or an attestation is found', async () => {
    const { header_value } = JSON.parse(fixture('a2a-trust-header/happy-path.json')) as TrustFixture;
    const { delegation_chain, attestations } = header_value;
    for (const part of [delegation_chain[0], attestations[0]]) {
      expect(await unnoticed(JSON.stringify(header_value), { now }, JSON.stringify(part))).toEqual([]);
    }
  });

  test('a header about another agent is not valid', async () => {
    const { header_value } = JSON.parse(fixture('a2a-trust-header/happy-path.json')) as TrustFixture;
    const other = { ...header_value, subject_agent: 'did:aps:other' };
    expect(await verifyForeign(JSON.stringify(other), { now })).toMatchObject({ integrity: false });
  });
});

const files = ['acta', 'x402', 'dsse', 'tlog-proof'].map((name) => `foreign-${name}.json`);
const good = files
  .flatMap((file) => readVectors<ForeignCase>(file))
  .filter(({ expected }) => expected?.valid);

function optionsOf({ keys, entry, log, trust, now: at }: ForeignCase): VerifyForeignOptions {
  return {
    now: Date.parse(at),
    keys,
    entry: entry === undefined ? undefined : fromHex(entry),
    trust: trustOf(stores[trust], log === undefined ? [] : [{ log, chain: null }]),
  };
}

/** What no signature covers; the documentation says so. It changes no verdict. */
const UNSIGNED = [
  /"(acceptIndex|keyid|kid|canonicalization|x402Version)": ?[^,\n}]+,?/g,
  /"accepts": \[\],/g,
  /— witness\.example\.com \S+\n/g,
];

/** Alters one byte after the other of what is signed in a part, and returns what is around those that nobody noticed. */
async function unnoticed(file: string, options: VerifyForeignOptions, part = file): Promise<string[]> {
  const bytes = new TextEncoder().encode(file);
  const open = UNSIGNED.flatMap((part) => [...file.matchAll(part)]).map((match) => {
    const from = new TextEncoder().encode(file.slice(0, match.index)).length;
    return { from, to: from + new TextEncoder().encode(match[0]).length };
  });
  const found: string[] = [];
  const start = file.indexOf(part);
  for (let at = start; at < start + part.length; at++) {
    if (open.some(({ from, to }) => at >= from && at < to)) continue;
    const altered = bytes.with(at, (bytes[at] ?? 0) ^ 1);
    const verdict = await verifyForeign(altered, options);
    if (verdict?.integrity === true) found.push(new TextDecoder().decode(altered.slice(at - 20, at + 20)));
  }
  return found;
}

describe('any altered byte of what is signed is found', () => {
  const names = new Set([
    'v1 flat',
    'v2 envelope',
    'v2 artifact, key given',
    'draft envelope, key given',
    'receipt, JWS',
    'receipt, JWS, ES256',
    'offer, EIP-712',
    'receipt, EIP-712, address given',
    'in-toto statement',
    'proof with its entry',
    'proof with a cosignature',
  ]);
  test.each(good.filter(({ name }) => names.has(name)))('$name', async (vector) => {
    expect(await unnoticed(vector.file, optionsOf(vector))).toEqual([]);
  });
});

describe('hostile files', () => {
  const deep = `${'{"payload":'.repeat(70)}1${'}'.repeat(70)}`;
  const vectors = good.map(({ file }) => file);
  const cut = vectors.flatMap((file) => [file.slice(0, file.length >> 1), file.slice(file.length >> 1)]);
  const swapped = vectors.map((file) => file.replaceAll(/"[^"]*"(?=[,\n}])/g, '{"a":[null]}'));
  const numbers = vectors.map((file) => file.replaceAll(/: ?"[^"]*"/g, ': -1.5'));
  test('are refused without an exception', async () => {
    for (const file of [
      ...cut,
      ...swapped,
      ...numbers,
      deep,
      '\ufeff{}',
      '{"payload":{},"signature":{"alg":1}}',
    ]) {
      expect((await verifyForeign(file, { now }))?.valid ?? false, file).toBe(false);
    }
    expect(await verifyForeign(Uint8Array.of(0xff, 0xfe), { now })).toBeNull();
  });
});

test('no two families take the same document', () => {
  const single = good.filter(({ file, expected }) => expected?.count === 1 && file.startsWith('{'));
  for (const { file, expected } of single) {
    const document = parseJson(new TextEncoder().encode(file)) as JsonObject;
    const takers = foreignFamilies.filter((family) => family.recognises(document)).map(({ name }) => name);
    expect(takers).toEqual([expected?.family]);
  }
});

test('a verdict has the members of one on our own receipts, and says what is not covered', async () => {
  for (const vector of good) {
    const verdict = await verifyForeign(vector.file, optionsOf(vector));
    expect(Object.keys(verdict ?? {})).toEqual(
      expect.arrayContaining([
        'valid',
        'integrity',
        'issuer',
        'profile',
        'receipt_id',
        'checks',
        'verified_at',
      ]),
    );
    expect(verdict?.notes.length).toBeGreaterThan(0);
  }
});

test('a key that is none is an error of the caller', async () => {
  await expect(verifyForeign('{}', { now, keys: ['x'] })).rejects.toMatchObject({
    code: 'invalid_public_key',
  });
});
