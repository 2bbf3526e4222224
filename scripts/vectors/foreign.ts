import type { ForeignFamilyName } from '../../packages/core/src/foreign/index.ts';
import { NOW } from './cases.ts';
import type { StoreName } from './stores.ts';

/** A file with foreign receipts, what the verifier has beside it, and the verdict. */
export interface ForeignCase {
  readonly name: string;
  readonly comment: string;
  /** Text of the file. */
  readonly file: string;
  /** Keys that the verifier gives, each in one of the forms that it may have. */
  readonly keys: readonly string[];
  /** The log of the trust bundle; absent if it has none. */
  readonly log?: { readonly origin: string; readonly key_id: string; readonly public_key: string };
  /** The entry that a tlog-proof is about, in hex. */
  readonly entry?: string;
  readonly trust: StoreName;
  readonly now: string;
  /** Null if the file holds no foreign receipt. */
  readonly expected: {
    readonly family: ForeignFamilyName;
    readonly valid: boolean;
    readonly integrity: boolean;
    readonly trusted: boolean;
    readonly count: number;
    readonly signers: readonly string[];
    readonly failed_checks: readonly string[];
  } | null;
}

interface Options extends Partial<Pick<ForeignCase, 'keys' | 'log' | 'entry' | 'trust' | 'now'>> {
  readonly count?: number;
  /** The keys that signed, as the verdict names them; by default the family's signer, unless no signature holds. */
  readonly signers?: readonly string[];
  /** By default, whether it is valid and a key or a trust was given. */
  readonly trusted?: boolean;
}

/** Checks that say a receipt is intact and still not valid. */
const CONTRADICTIONS = new Set(['issued_at', 'issuer', 'key_window', 'pinned_key', 'delegation']);

/** The builder of one family's cases. @param signer by which the receipts of most cases are signed */
export function foreignCases(family: ForeignFamilyName, signer: string) {
  return (
    name: string,
    comment: string,
    file: string,
    failed: readonly string[],
    options: Options = {},
  ): ForeignCase => {
    const { keys = [], trust = 'empty', now = NOW, log, entry } = options;
    const valid = failed.length === 0;
    const unsigned = failed.includes('format') || failed.includes('signature');
    const integrity = failed.every((check) => CONTRADICTIONS.has(check));
    return {
      name,
      comment,
      file,
      keys,
      trust,
      now,
      ...(log === undefined ? {} : { log }),
      ...(entry === undefined ? {} : { entry }),
      expected: {
        family,
        valid,
        integrity,
        trusted: options.trusted ?? (valid && (keys.length > 0 || trust !== 'empty' || log !== undefined)),
        count: options.count ?? (failed.includes('format') ? 0 : 1),
        signers: options.signers ?? (unsigned ? [] : [signer]),
        failed_checks: failed,
      },
    };
  };
}

export const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
export const lines = (values: readonly unknown[]): string =>
  values.map((one) => `${JSON.stringify(one)}\n`).join('');
