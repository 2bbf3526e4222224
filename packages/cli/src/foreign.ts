import { existsSync } from 'node:fs';
import { TallyError, type Verification } from '@tallystick/core';
import type { ForeignVerification } from '@tallystick/core/foreign';
import { leadingTrust } from './evaluate.ts';
import { readBytes, readText } from './input.ts';
import { UsageError } from './output.ts';
import type { TrustSource } from './trust-sources.ts';

/** What foreign receipts are judged by. */
interface ForeignBasis {
  /** Unix milliseconds. */
  readonly now: number;
  /** Keys that are trusted, as texts. */
  readonly keys: readonly string[];
  readonly entry: Uint8Array | undefined;
  readonly sources: readonly TrustSource[];
}

/** Judges a file of foreign receipts; null if it holds none. `vouchedBy` is the bundle that trusts their signer. */
export async function judgeForeign(
  file: Uint8Array,
  { now, keys, entry, sources }: ForeignBasis,
): Promise<{ readonly verdict: ForeignVerification; readonly vouchedBy: string | null } | null> {
  const { verifyForeign } = await import('@tallystick/core/foreign');
  const { trust } = leadingTrust(sources, now);
  const verdict = await verifyForeign(file, { now, keys, entry, trust });
  if (verdict === null) return null;
  const { did, trusted } = verdict.issuer;
  const voucher = sources.find(({ bundle }) => bundle.issuers.some((issuer) => issuer.did === did));
  return { verdict, vouchedBy: trusted ? (voucher?.from ?? null) : null };
}

/** The texts of keys that were given as such or in files. @throws UsageError for what is neither */
export async function readKeys(given: readonly string[]): Promise<readonly string[]> {
  if (given.length === 0) return [];
  const { parseForeignKeys } = await import('@tallystick/core/foreign');
  const isKey = (text: string): boolean => {
    try {
      return parseForeignKeys(text).length > 0;
    } catch (error) {
      if (error instanceof TallyError) return false;
      throw error;
    }
  };
  return Promise.all(
    given.map(async (one) => {
      const text = isKey(one) || !existsSync(one) ? one : await readText(one);
      if (isKey(text)) return text;
      throw new UsageError(
        `--key: ${one} is no key that is read here, and no file with one: a did:key, 64 hex digits, base64url of 32 bytes, an address, PEM, a JWK or JWK Set, or a log’s verifier key.`,
        { code: 'invalid_public_key' },
      );
    }),
  );
}

/** The bytes of a log's entry: those of the file, or the 32 that 64 hex digits spell. @throws UsageError */
export async function readEntry(given: string | undefined): Promise<Uint8Array | undefined> {
  if (given === undefined) return undefined;
  return /^[0-9a-f]{64}$/.test(given) ? Buffer.from(given, 'hex') : readBytes(given);
}

/** The verdict on one of our own receipts, if it must be signed by one of these keys: then that key is trusted. */
export async function withPins(verdict: Verification, keys: readonly string[]): Promise<Verification> {
  if (keys.length === 0 || !verdict.integrity) return verdict;
  const { keyName, parseForeignKeys } = await import('@tallystick/core/foreign');
  const signer = verdict.issuer.key_id;
  const isPinned = keys
    .flatMap((text) => parseForeignKeys(text).map(keyName))
    .some((name) => name === signer);
  const detail = isPinned
    ? 'The key is one of those that were given.'
    : `${signer} signed this, which is none of the keys that were given.`;
  const valid = verdict.valid && isPinned;
  return {
    ...verdict,
    valid,
    issuer: { ...verdict.issuer, trusted: valid },
    checks: [...verdict.checks, { name: 'pinned_key', ok: isPinned, detail }],
  };
}
