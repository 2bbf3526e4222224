import { defaultEngine } from '../ed25519/engines.ts';
import type { Ed25519Engine } from '../ed25519/profile.ts';
import { type Check, CLOCK_SKEW, failed, passed, unchecked } from '../receipts/family.ts';
import { formatTimestamp } from '../time.ts';
import { assessIssuer, type IssuerVerdict } from '../trust/assess-issuer.ts';
import { type Trust, trustOf } from '../trust/issuer.ts';
import type { Verification } from '../verify.ts';
import { a2aTrust } from './a2a-trust/a2a-trust.ts';
import { acta } from './acta/acta.ts';
import { coseReceipt } from './cose-receipt/cose-receipt.ts';
import { readDocuments } from './documents.ts';
import { dsse } from './dsse/dsse.ts';
import {
  type ForeignDocument,
  type ForeignFamily,
  type ForeignFamilyName,
  ForeignFault,
  type ForeignReceipt,
  type ForeignSignature,
} from './family.ts';
import { type ForeignKey, keyName, parseForeignKeys, sameKey } from './keys.ts';
import { holds, KEY_KINDS } from './signature.ts';
import { tlogProof } from './tlog-proof/tlog-proof.ts';
import { x402 } from './x402/x402.ts';

/** Every family, in the order in which they are asked whether a document is theirs. */
export const foreignFamilies: readonly ForeignFamily[] = [x402, dsse, acta, a2aTrust, tlogProof, coseReceipt];

export interface VerifyForeignOptions {
  /** Unix milliseconds. */
  readonly now: number;
  /** Keys that are trusted; one of them must have signed each receipt. As `parseForeignKeys` reads them. */
  readonly keys?: readonly string[] | undefined;
  /** The issuers and logs that the verifier knows; none when absent. */
  readonly trust?: Trust | undefined;
  /** The entry that a tlog-proof is about: the bytes that the log hashed. */
  readonly entry?: Uint8Array | undefined;
  readonly engine?: Ed25519Engine | undefined;
}

/** The verdict on the foreign receipts in a file, with the members of that on one of our own. */
export interface ForeignVerification extends Omit<Verification, 'family' | 'evidence' | 'witnessed'> {
  readonly family: ForeignFamilyName;
  /** Number of receipts in the file. */
  readonly count: number;
  /** The keys that signed, each once: a did:key, or an address. */
  readonly signers: readonly string[];
  /** What such receipts do not cover, in sentences. */
  readonly notes: readonly string[];
}

/**
 * Verifies the foreign receipts in a file: one document, a list, JSON Lines, or the text of a tlog-proof. Returns null if
 * the file holds none of a known family. Never throws for what the file holds.
 * @throws invalid_public_key for an option `keys` with a text that is none
 */
export async function verifyForeign(
  file: Uint8Array | string,
  options: VerifyForeignOptions,
): Promise<ForeignVerification | null> {
  const pins = (options.keys ?? []).flatMap(parseForeignKeys);
  const read = readDocuments(file);
  const first = read?.documents[0];
  const family = first === undefined ? undefined : foreignFamilies.find((one) => one.recognises(first));
  if (read === null || family === undefined) return null;
  try {
    if (read.fault !== null) throw new ForeignFault(read.fault);
    const receipts = read.documents.flatMap((document, index) => readOne(family, document, index, options));
    return await judgeAll(family, receipts, { ...options, pins });
  } catch (error) {
    if (error instanceof ForeignFault) return malformed(family, error.message, options.now);
    throw error;
  }
}

function readOne(
  family: ForeignFamily,
  document: ForeignDocument,
  index: number,
  options: VerifyForeignOptions,
): readonly ForeignReceipt[] {
  try {
    if (!family.recognises(document)) throw new ForeignFault('It is of another kind than the first one.');
    return family.read(document, options);
  } catch (error) {
    if (error instanceof ForeignFault && index > 0)
      throw new ForeignFault(`Receipt ${index + 1}: ${error.message}`);
    throw error;
  }
}

interface Basis extends VerifyForeignOptions {
  readonly pins: readonly ForeignKey[];
}

/** The verdict on one receipt of a file. */
interface Judged {
  readonly integrity: readonly Check[];
  readonly contradictions: readonly Check[];
  readonly signer: ForeignKey | null;
  readonly issuer: IssuerVerdict;
  readonly trusted: boolean;
}

const fine = (checks: readonly Check[]): boolean => checks.every(({ ok }) => ok !== false);

async function judgeAll(
  family: ForeignFamily,
  receipts: readonly ForeignReceipt[],
  basis: Basis,
): Promise<ForeignVerification> {
  if (receipts.length === 0) throw new ForeignFault('It holds no signed receipt.');
  const judged: Judged[] = [];
  for (const receipt of receipts) judged.push(await judge(receipt, basis));
  const integrityChecks = [
    passed('format', `It has the form of ${family.name} (${profileOf(receipts)}).`),
    ...combined(judged.map(({ integrity }) => integrity)),
    ...(family.together?.(receipts) ?? []),
  ];
  const contradictionChecks = [
    ...combined(judged.map(({ contradictions }) => contradictions)),
    ...(family.contradictions?.(receipts) ?? []),
  ];
  const integrity = fine(integrityChecks);
  const valid = integrity && fine(contradictionChecks);
  const signers = [...new Set(judged.flatMap(({ signer }) => (signer === null ? [] : [keyName(signer)])))];
  const decided = receipts.every(({ undecided }) => undecided === undefined);
  return {
    valid,
    integrity,
    issuer: {
      did: common(judged.map(({ issuer }) => issuer.did)),
      key_id: signers.length === 1 ? (signers[0] ?? null) : null,
      trusted: valid && decided && judged.every(({ trusted }) => trusted),
      status: common(judged.map(({ issuer }) => issuer.status)) ?? 'unknown',
      key_state: common(judged.map(({ issuer }) => issuer.keyState)) ?? 'unknown',
    },
    family: family.name,
    profile: profileOf(receipts),
    receipt_id: receipts.length === 1 ? (receipts[0]?.id ?? null) : null,
    count: receipts.length,
    signers,
    checks: [...integrityChecks, ...contradictionChecks],
    notes: [...receipts.flatMap(({ undecided }) => undecided ?? []), ...family.notes(receipts)],
    verified_at: formatTimestamp(basis.now),
  };
}

const profileOf = (receipts: readonly ForeignReceipt[]): string =>
  [...new Set(receipts.map(({ profile }) => profile))].join(', ');

/** The value that all have, or null. */
function common<T>(values: readonly T[]): T | null {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : null;
}

async function judge(receipt: ForeignReceipt, basis: Basis): Promise<Judged> {
  const trust = basis.trust ?? trustOf([]);
  const { checks, signer, vouched } = await checkSignatures(receipt, trust, basis);
  const issuer = vouched ? vouchedIssuer() : issuerOf(receipt, signer, trust, basis.now);
  const isPinned = signer !== null && basis.pins.some((pin) => sameKey(pin, signer));
  return {
    integrity: [...checks, ...(receipt.checks ?? [])],
    contradictions: [
      timeCheck(receipt, basis.now),
      ...issuer.checks,
      ...pinCheck(basis.pins, signer, isPinned),
    ],
    signer,
    issuer,
    trusted: isPinned || issuer.trusted,
  };
}

interface Signed {
  readonly checks: readonly Check[];
  readonly signer: ForeignKey | null;
  readonly vouched: boolean;
}

/** Finds the first signature that holds, under the key that the receipt carries or under one that the verifier has. */
async function checkSignatures(receipt: ForeignReceipt, trust: Trust, basis: Basis): Promise<Signed> {
  const engine = basis.engine ?? defaultEngine;
  let tried: ForeignKey | null = null;
  for (const signature of receipt.signatures) {
    const { carried } = signature;
    const vouchers = signature.vouched?.(trust) ?? [];
    const known = [...basis.pins, ...vouchers, ...namedKeys(signature, trust)];
    const fitting = (carried === null ? known : [carried]).filter(
      (key) => key.kind === KEY_KINDS[signature.algorithm] && signature.fits?.(key) !== false,
    );
    for (const key of fitting) {
      tried = key;
      if (!(await holds(signature, key, engine))) continue;
      const from = carried === null ? 'the receipt does not carry it' : 'the receipt carries it';
      const checks = [
        passed('key', `The key is ${keyName(key)}; ${from}.`),
        passed('signature', "The signer's signature covers exactly these contents."),
      ];
      return { checks, signer: key, vouched: vouchers.some((one) => sameKey(one, key)) };
    }
  }
  const failure = 'The signature does not match: the contents were changed, or another key signed them.';
  const checks =
    tried === null
      ? [keyMissing(receipt), failed('signature', 'There is no key to check it with.')]
      : [passed('key', `The key is ${keyName(tried)}.`), failed('signature', failure)];
  return { checks, signer: null, vouched: false };
}

/** The key that the trust has under the id that the receipt gives. */
function namedKeys({ keyId }: ForeignSignature, trust: Trust): readonly ForeignKey[] {
  const key = keyId === null ? undefined : trust.key(keyId);
  return key === undefined ? [] : parseForeignKeys(key.public_key);
}

function keyMissing({ signatures }: ForeignReceipt): Check {
  const ids = [...new Set(signatures.flatMap(({ keyId }) => keyId ?? []))];
  const named = ids.length === 0 ? 'It names no key' : `It names the key ${ids.join(' or ')}`;
  return failed('key', `${named} and carries none that can be checked: the signer's key must be given.`);
}

function issuerOf(
  receipt: ForeignReceipt,
  signer: ForeignKey | null,
  trust: Trust,
  now: number,
): IssuerVerdict {
  if (signer?.kind !== 'Ed25519') return unknownIssuer;
  const verdict = assessIssuer(
    {
      receiptId: '',
      profile: receipt.profile,
      keyId: null,
      issuerPublicKey: null,
      issuerDid: null,
      issuerVerified: null,
      issuedAt: receipt.issuedAt ?? Math.floor(now / 1000),
      signature: '',
    },
    signer.publicKey,
    trust,
    undefined,
  );
  if (receipt.issuedAt !== null) return verdict;
  // A receipt without a time is trusted only while its key is in use; otherwise nothing says whether it was signed before.
  const checks = verdict.checks.map((one) =>
    one.name === 'key_window' && one.ok === false
      ? unchecked(
          'key_window',
          'The key is no longer in use, and the receipt does not say when it was signed.',
        )
      : one,
  );
  return { ...verdict, checks };
}

const unknownIssuer: IssuerVerdict = {
  did: null,
  status: 'unknown',
  keyState: 'unknown',
  trusted: false,
  checks: [
    unchecked('issuer', 'The given trust does not list this key.'),
    unchecked('key_window', 'It is not known when this key was in use.'),
  ],
};

const vouchedIssuer = (): IssuerVerdict => ({
  ...unknownIssuer,
  status: 'verified',
  trusted: true,
  checks: [passed('issuer', 'The given trust vouches for this key.')],
});

function pinCheck(
  pins: readonly ForeignKey[],
  signer: ForeignKey | null,
  isPinned: boolean,
): readonly Check[] {
  if (pins.length === 0 || signer === null) return [];
  return [
    isPinned
      ? passed('pinned_key', 'The key is one of those that were given.')
      : failed('pinned_key', `${keyName(signer)} signed this, which is none of the keys that were given.`),
  ];
}

function timeCheck({ issuedAt }: ForeignReceipt, now: number): Check {
  if (issuedAt === null) return unchecked('issued_at', 'It does not say when it was issued.');
  const issued = `Issued at ${formatTimestamp(issuedAt * 1000)}`;
  return issuedAt <= Math.floor(now / 1000) + CLOCK_SKEW
    ? passed('issued_at', `${issued}, by its own word.`)
    : failed('issued_at', `${issued}, which is in the future.`);
}

/** One check for each name: of several receipts it is false if one is, then null if one is, and its detail says which. */
function combined(lists: readonly (readonly Check[])[]): readonly Check[] {
  const [first = []] = lists;
  if (lists.length === 1) return first;
  const names = [...new Set(lists.flatMap((checks) => checks.map(({ name }) => name)))];
  return names.map((name) => {
    const found = lists.map((checks) => checks.find((one) => one.name === name));
    const of = (ok: boolean | null): number => found.findIndex((one) => one?.ok === ok);
    const index = of(false) >= 0 ? of(false) : of(null);
    const worst = found[index];
    if (worst === undefined) return passed(name, `This holds for all ${lists.length} receipts.`);
    return { ...worst, detail: `Receipt ${index + 1}: ${worst.detail}` };
  });
}

function malformed({ name }: ForeignFamily, detail: string, now: number): ForeignVerification {
  const issuer = {
    did: null,
    key_id: null,
    trusted: false,
    status: 'unknown',
    key_state: 'unknown',
  } as const;
  return {
    valid: false,
    integrity: false,
    issuer,
    family: name,
    profile: null,
    receipt_id: null,
    count: 0,
    signers: [],
    checks: [failed('format', detail), unchecked('signature', 'Not reached: the form is wrong.')],
    notes: [],
    verified_at: formatTimestamp(now),
  };
}
