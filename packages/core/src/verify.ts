import { didKeyOf, publicKeyOfDidKey } from './did/key.ts';
import { defaultEngine } from './ed25519/engines.ts';
import { type Ed25519Engine, signatureFault, verifyEd25519 } from './ed25519/profile.ts';
import { fromBase64url, toBase64url } from './encoding/base64url.ts';
import { TallyError } from './errors.ts';
import { type Sha256, sha256Hex } from './hash.ts';
import { canonicalBytes, canonicalize } from './json/canonical.ts';
import { copyJson } from './json/copy.ts';
import type { JsonObject, JsonValue } from './json/types.ts';
import type { AnchorTransaction } from './log/anchor-checks.ts';
import { assessAnchor, assessAnchorOf } from './log/receipt-anchor.ts';
import type { EvidenceCounts } from './metering/evidence-classes.ts';
import type { EvidenceVerifier } from './metering/intake.ts';
import { metering } from './metering/metering.ts';
import { assessPq } from './ml-dsa/assess-pq.ts';
import { orNull } from './or-null.ts';
import { benchmark } from './receipts/benchmark.ts';
import { envelope } from './receipts/envelope.ts';
import {
  type Check,
  CLOCK_SKEW,
  type Claims,
  type CounterSignature,
  check,
  type Family,
  type FamilyName,
  failed,
  passed,
  unchecked,
} from './receipts/family.ts';
import { issueReceipt } from './receipts/issue.ts';
import { type NamedSettlement } from './receipts/named-settlement.ts';
import { legacyReceipt, profileReceipts } from './receipts/profile-family.ts';
import { checkSettlement, type SettlementTransaction } from './receipts/settlement.ts';
import { isObject, requireShape } from './receipts/shape.ts';
import { utf8Length } from './receipts/size.ts';
import { status } from './receipts/status.ts';
import { formatTimestamp } from './time.ts';
import { assessIssuer } from './trust/assess-issuer.ts';
import { type Trust, trustOf } from './trust/issuer.ts';
import type { Witnessed } from './witness/judge.ts';
import type { WitnessPolicy } from './witness/policy.ts';

/** Sources, beside the trust, by which evidence is judged. */
export interface EvidenceSources {
  /** The issuers by which a receipt that is given as evidence is judged; those of the bill when absent. */
  readonly trustFor?: ((receipt: JsonObject) => Trust | Promise<Trust>) | undefined;
  /** Which of these anchored hashes are in the log, in their order; absent where no log can be asked. */
  readonly areLogged?: EvidenceVerifier['areLogged'];
}

type EvidenceVerifierOptions = Pick<VerifyOptions, 'now' | 'trust' | 'engine' | 'evidenceSources'>;

export interface VerifyOptions {
  /** Unix milliseconds. */
  readonly now: number;
  /** The issuers that the verifier knows; none when absent. */
  readonly trust?: Trust | undefined;
  /** The evidence behind a metering receipt, in order: leaves, or the whole receipts that back the units. */
  readonly evidence?: Iterable<JsonValue> | undefined;
  readonly evidenceSources?: EvidenceSources | undefined;
  /** The receipt's anchored result as JSON; where absent or null, the member `anchor` of the receipt is looked at. */
  readonly anchor?: JsonValue | undefined;
  /** The anchor's transaction on the chain; null if the chain has none; absent if the chain was not asked. */
  readonly transaction?: AnchorTransaction | null | undefined;
  /** The transaction that the receipt names as its settlement; null and absent mean the same as for `transaction`. */
  readonly settlement?: SettlementTransaction | null | undefined;
  /** Witnesses that must have cosigned the anchor's checkpoint: the verifier's own choice, never the service's. */
  readonly witnessPolicy?: WitnessPolicy | undefined;
  readonly engine?: Ed25519Engine | undefined;
  /** Hashes the nodes on the anchor's path; in JavaScript when absent. */
  readonly sha256?: Sha256 | undefined;
}

/** The verdict. `valid`: the receipt is intact and contradicts no known issuer. Trust is a verdict of its own. */
export interface Verification {
  readonly valid: boolean;
  /** Whether this key signed these bytes, and the family's rules hold. */
  readonly integrity: boolean;
  readonly issuer: {
    readonly did: string | null;
    readonly key_id: string | null;
    /** Whether the key belongs to a verified issuer of the trust given, and its window covers the receipt. */
    readonly trusted: boolean;
    readonly status: 'verified' | 'registered' | 'unknown' | 'contradicted';
    readonly key_state: 'pending' | 'active' | 'retired' | 'revoked' | 'compromised' | 'unknown';
  };
  /** Whether the witnesses of the policy cosigned the anchor's checkpoint; null without a policy. */
  readonly witnessed: Witnessed | null;
  readonly family: FamilyName | null;
  readonly profile: string | null;
  readonly receipt_id: string | null;
  readonly checks: readonly Check[];
  /** Number of evidence leaves by class; only for a metering receipt whose evidence was given and read whole. */
  readonly evidence?: EvidenceCounts;
  readonly verified_at: string;
}

const families: readonly Family[] = [
  envelope,
  ...profileReceipts,
  metering,
  issueReceipt,
  legacyReceipt,
  benchmark,
  status,
];

/** The family that a document says it belongs to, or null. */
export function familyOf(document: JsonObject): Family | null {
  return families.find((family) => family.recognises(document)) ?? null;
}

/** The family and the members of a receipt whose form is valid. @throws not_a_receipt */
export function readReceipt(document: JsonValue): { readonly family: Family; readonly receipt: JsonObject } {
  const family = isObject(document) ? familyOf(document) : null;
  if (!isObject(document) || family === null) {
    throw new TallyError('not_a_receipt', 'This is not a receipt of a known family.');
  }
  return { family, receipt: requireShape(family.shape, document, 'not_a_receipt') };
}

/**
 * Verifies a receipt of any family. Pure: the same document, trust and time give the same verdict on every
 * runtime. Never throws for a document that is plain JSON, whatever it says.
 * @throws the codes of `copyJson` for a value that is not I-JSON
 */
export async function verify(document: unknown, options: VerifyOptions): Promise<Verification> {
  const anchor = options.anchor === undefined ? undefined : copyJson(options.anchor);
  return verifyParsed(copyJson(document), { ...options, anchor });
}

/** `verify` for a value from `parseJson` that nobody else holds: receipt and anchor are not copied. */
export async function verifyParsed(document: JsonValue, options: VerifyOptions): Promise<Verification> {
  const family = isObject(document) ? familyOf(document) : null;
  if (!isObject(document) || family === null) {
    return notReached(null, [failed('format', 'This is not a receipt of a known family.')], options);
  }
  const fault = family.shape(document, '');
  if (fault !== null) {
    return notReached(family, [failed('format', `${fault.field} must be ${fault.expected}.`)], options);
  }
  return evaluate(family, document, options);
}

async function evaluate(family: Family, document: JsonObject, options: VerifyOptions): Promise<Verification> {
  const trust = options.trust ?? emptyTrust;
  const engine = options.engine ?? defaultEngine;
  const claims = family.claims(document);
  const key = resolveKey(claims, trust);
  const contents = family.signed(document);
  const signed = canonicalBytes(contents);
  const facts = { ...options, issuedAt: claims.issuedAt, anchors: trust.anchors, engine };
  // An engine may verify several signatures at once.
  const [signature, anchor] = await Promise.all([
    signatureCheck(signed, claims.signature, key.publicKey, engine),
    assessAnchor(family, document, options.anchor, facts),
  ]);
  const integrityChecks: Check[] = [
    passed('format', `It has the members of ${family.name === 'profile' ? claims.profile : family.name}.`),
    sizeCheck(family, claims, document, signed.length),
    key.check,
    signature,
  ];
  for (const counter of family.counterSignatures?.(document) ?? []) {
    integrityChecks.push(await counterCheck(signed, counter, trust, engine));
  }
  integrityChecks.push(...(family.rules?.(document) ?? []));
  const behind = await family.evidence?.(document, options.evidence, evidenceVerifier(options));
  if (behind !== undefined) integrityChecks.push(behind.check);

  const issuer = assessIssuer(claims, key.publicKey, trust, anchor.existedAt, family.keyPurpose);
  const second = family.pqSignature?.(document);
  const pqChecks =
    second === undefined ? [] : await assessPq(second, contents, claims, trust, anchor.existedAt);
  integrityChecks.push(...pqChecks.slice(0, 1));
  const contradictionChecks = [
    timeCheck(claims, options.now),
    ...issuer.checks,
    ...pqChecks.slice(1),
    ...anchor.checks,
    ...settlementChecks(family, document, options.settlement, trust),
  ];
  const witness = await options.witnessPolicy?.assess(anchor, trust.anchors, engine);
  const holds = (checks: readonly Check[]): boolean => checks.every(({ ok }) => ok !== false);
  const integrity = holds(integrityChecks);
  const valid = integrity && holds(contradictionChecks);
  return {
    valid,
    integrity,
    issuer: {
      did: issuer.did,
      key_id: claims.keyId ?? key.keyId,
      trusted: valid && issuer.trusted,
      status: issuer.status,
      key_state: issuer.keyState,
    },
    witnessed: witness?.witnessed ?? null,
    family: family.name,
    profile: claims.profile,
    receipt_id: claims.receiptId,
    checks: [...integrityChecks, ...contradictionChecks, ...(witness?.checks ?? [])],
    ...(behind === undefined || behind.counts === null ? {} : { evidence: behind.counts }),
    verified_at: formatTimestamp(options.now),
  };
}

/**
 * Creates the judge of the evidence behind a bill: its receipts on the same path as any receipt, its anchors by
 * the same trust.
 */
export function evidenceVerifier({
  now,
  trust = emptyTrust,
  engine,
  evidenceSources = {},
}: EvidenceVerifierOptions): EvidenceVerifier {
  const { trustFor = () => trust, areLogged } = evidenceSources;
  return {
    identify(given) {
      const { family, receipt } = readReceipt(given);
      const hash = sha256Hex(canonicalBytes(family.anchored(receipt)));
      return { sha256: hash, issuedAt: family.claims(receipt).issuedAt };
    },
    async verifyReceipt(receipt, anchor) {
      const verdict = await verifyParsed(receipt, { now, trust: await trustFor(receipt), engine, anchor });
      return { fault: faultIn(verdict.checks), trusted: verdict.issuer.trusted };
    },
    async verifyAnchor(anchoredHash, anchor) {
      const { anchors } = trust;
      const facts = {
        anchoredHash,
        now,
        issuedAt: 0,
        transaction: undefined,
        anchors,
        engine: engine ?? defaultEngine,
      };
      const { checks } = await assessAnchorOf(anchor, facts);
      const holds = (name: string): boolean => checks.some((one) => one.name === name && one.ok === true);
      return { fault: faultIn(checks), logged: holds('anchor') && holds('anchor_checkpoint') };
    },
    areLogged,
  };
}

/** The reason why a verdict is not good: the first check that is false, or null. */
function faultIn(checks: readonly Check[]): string | null {
  const broken = checks.find(({ ok }) => ok === false);
  return broken === undefined ? null : `${broken.name}: ${broken.detail}`;
}

function settlementChecks(
  family: Family,
  document: JsonObject,
  transaction: SettlementTransaction | null | undefined,
  { anchors }: Trust,
): Check[] {
  const named = family.settlement?.(document) ?? null;
  const payees = anchors.flatMap((authority) => authority.payees ?? []);
  return named === null ? [] : [checkSettlement(named, transaction, payees)];
}

/** The settlement that a receipt names; null if it names none or is not a receipt. */
export function settlementOf(document: JsonValue): NamedSettlement | null {
  const read = orNull(() => readReceipt(document));
  return read?.family.settlement?.(read.receipt) ?? null;
}

const emptyTrust = trustOf([]);

function notReached(family: Family | null, checks: readonly Check[], options: VerifyOptions): Verification {
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
    witnessed: null,
    family: family?.name ?? null,
    profile: null,
    receipt_id: null,
    checks: [...checks, unchecked('signature', 'Not reached: the document is not a receipt.')],
    verified_at: formatTimestamp(options.now),
  };
}

/** Checks the size, which is that of the signed bytes plus the members that hold the signature and a comma. */
function sizeCheck(
  family: Family,
  { profile, maxBytes = null }: Claims,
  document: JsonObject,
  signedBytes: number,
): Check {
  if (maxBytes === null) return passed('size', `${profile} has no size limit.`);
  const size =
    signedBytes + utf8Length(canonicalize(family.signatureMembers(document))) - '{}'.length + ','.length;
  return check(
    'size',
    size <= maxBytes,
    `${size} of ${maxBytes} bytes.`,
    `${size} bytes; ${profile} allows ${maxBytes}.`,
  );
}

interface ResolvedKey {
  readonly check: Check;
  readonly keyId: string | null;
  readonly publicKey: Uint8Array | null;
}

/** The key that the receipt names: by its did:key, or by an id that the verifier's trust holds. */
function resolveKey(claims: Claims, trust: Trust): ResolvedKey {
  try {
    const carried = claims.issuerPublicKey === null ? null : fromBase64url(claims.issuerPublicKey, 32);
    const publicKey = claims.keyId === null ? carried : publicKeyOfId(claims.keyId, trust);
    if (publicKey === null) return unresolved(`The key ${claims.keyId} is not among the known keys.`);
    if (carried !== null && toBase64url(publicKey) !== claims.issuerPublicKey) {
      return unresolved('issuer_pubkey is not the key that key_id names.');
    }
    const keyId = claims.keyId ?? didKeyOf(publicKey);
    return { check: passed('key', `The key is ${keyId}.`), keyId, publicKey };
  } catch (error) {
    if (error instanceof TallyError) return unresolved(error.message);
    throw error;
  }
}

function publicKeyOfId(keyId: string, trust: Trust): Uint8Array | null {
  const known = trust.key(keyId);
  if (known !== undefined) return fromBase64url(known.public_key, 32);
  return keyId.startsWith('did:key:') ? publicKeyOfDidKey(keyId) : null;
}

const unresolved = (detail: string): ResolvedKey => ({
  check: failed('key', detail),
  keyId: null,
  publicKey: null,
});

async function signatureCheck(
  signed: Uint8Array,
  signature: string,
  publicKey: Uint8Array | null,
  engine: Ed25519Engine,
): Promise<Check> {
  if (publicKey === null) return failed('signature', 'There is no key to check it with.');
  const good = await verifyEd25519(engine, publicKey, signed, fromBase64url(signature, 64));
  return check(
    'signature',
    good,
    "The issuer's signature covers exactly these contents.",
    'The signature does not match: the contents were changed, or another key signed them.',
  );
}

async function counterCheck(
  signed: Uint8Array,
  counter: CounterSignature,
  trust: Trust,
  engine: Ed25519Engine,
): Promise<Check> {
  const name = `signature_${counter.role}`;
  if (counter.signature === null) return unchecked(name, `The ${counter.role} has not signed.`);
  if (counter.did === null)
    return failed(name, `There is a signature, but the receipt names no ${counter.role}.`);
  const bytes = fromBase64url(counter.signature, 64);
  const fault = signatureFault(bytes);
  if (fault !== undefined) return failed(name, `No key can have made this signature: it ${fault}.`);
  const candidates = keysOf(counter.did, trust);
  if (candidates.length === 0) return unchecked(name, `The keys of ${counter.did} are not known here.`);
  for (const key of candidates) {
    if (await verifyEd25519(engine, key.publicKey, signed, bytes)) return signerCheck(name, counter.did, key);
  }
  return failed(name, `This is not a signature of ${counter.did} over these contents.`);
}

/** A key of the party that is to counter-sign, its purpose, and whether it was revoked. */
interface CounterKey {
  readonly publicKey: Uint8Array;
  readonly purpose: string;
  readonly revoked: boolean;
}

/** Judges a key whose signature is good: it must be for receipts and not revoked. */
function signerCheck(name: string, did: string, { purpose, revoked }: CounterKey): Check {
  if (purpose !== 'receipt') {
    return failed(name, `The key of ${did} that signed this is for ${purpose}, not for receipts.`);
  }
  return revoked
    ? unchecked(name, `A revoked key of ${did} signed this, and nothing proves that this was signed earlier.`)
    : passed(name, `${did} signed exactly these contents.`);
}

/** The keys of a DID, whatever their purpose. A key of unusable form is left out. */
function keysOf(did: string, trust: Trust): CounterKey[] {
  if (!did.startsWith('did:key:')) {
    const keys = trust.issuer(did)?.keys ?? [];
    return keys.map(({ public_key, purpose, revoked }) => ({
      publicKey: fromBase64url(public_key, 32),
      purpose,
      revoked: revoked !== null,
    }));
  }
  const publicKey = orNull(() => publicKeyOfDidKey(did));
  return publicKey === null ? [] : [{ publicKey, purpose: 'receipt', revoked: false }];
}

function timeCheck(claims: Claims, now: number): Check {
  const latest = Math.floor(now / 1000) + CLOCK_SKEW;
  // A bill states when it was compiled; only an anchor dates its signature.
  const what = claims.mayBeSignedLater === true ? 'Compiled' : 'Issued';
  const issued = `${what} at ${formatTimestamp(claims.issuedAt * 1000)}`;
  return check('issued_at', claims.issuedAt <= latest, `${issued}.`, `${issued}, which is in the future.`);
}
