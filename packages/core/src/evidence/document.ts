import { didKeyOf } from '../did/key.ts';
import { defaultEngine } from '../ed25519/engines.ts';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import type { Signer } from '../ed25519/signer.ts';
import { fromBase64url, toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { canonicalBytes, canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import {
  bytes32,
  constant,
  did,
  hex64,
  integer,
  keyId,
  nonEmptyText,
  nullable,
  object,
  oneOf,
  pattern,
  type Rule,
  sha256Text,
  signature,
  timestamp,
} from '../receipts/shape.ts';
import { formatTimestamp, secondsOf } from '../time.ts';
import type { Trust } from '../trust/issuer.ts';
import { judgeIssuer } from '../trust/judge.ts';
import { EvidenceFault } from './fault.ts';

const EVIDENCE_TYPE = 'svc-evidence-v1';

/** Kinds of signed document of an evidence room: a bundle's contents, and what has left the room. */
type EvidenceNode = 'manifest' | 'purge';

/** One file of a bundle. Those of receipts also say which. */
export interface EvidenceFile {
  readonly path: string;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Number of receipts, one on each line. */
  readonly receipts?: number;
  readonly first?: EvidencePlace;
  readonly last?: EvidencePlace;
}

/** Position of a receipt in the room: receipts are in the order of their seconds, then of their ids. */
export interface EvidencePlace {
  readonly receipt_id: string;
  readonly at: string;
}

/** Signature members that both documents have. */
interface Signed {
  readonly type: typeof EVIDENCE_TYPE;
  readonly issued_at: string;
  readonly issuer_did: string;
  readonly issuer_pubkey: string;
  readonly key_id: string;
  readonly sig_b64u: string;
}

/** Facts about the receipts that left the room in one sweep (spec/evidence.md). */
export interface PurgeFacts {
  readonly tenant: string;
  /** From 1, without a gap. */
  readonly sequence: number;
  readonly purged_at: string;
  readonly count: number;
  /** Number of receipts by profile. */
  readonly profiles: Readonly<Record<string, number>>;
  readonly first: EvidencePlace;
  readonly last: EvidencePlace;
  /** Hex: the RFC 6962 root over the receipt ids in UTF-8, in the order of the room. */
  readonly ids_root: string;
  /** Hex SHA-256 of the record before, as JCS; null for the first. */
  readonly previous: string | null;
}

export interface PurgeRecord extends PurgeFacts, Signed {
  readonly node: 'purge';
}

export interface ManifestFacts {
  readonly tenant: string;
  /** Half-open, and no longer than the room keeps. */
  readonly period: { readonly from: string; readonly to: string };
  readonly retention_days: number;
  readonly receipts: number;
  /** Number of them that are under a root that is final on the chain. */
  readonly anchored: number;
  /** Number of them that are metering receipts. */
  readonly metering: number;
  readonly trust: { readonly version: number; readonly root: string };
  readonly log: { readonly origin: string; readonly tree_size: number; readonly anchored_size: number };
  readonly purged: readonly Pick<
    PurgeFacts,
    'sequence' | 'purged_at' | 'count' | 'first' | 'last' | 'ids_root'
  >[];
  /** Files in the order of the archive, after the manifest itself. */
  readonly files: readonly EvidenceFile[];
}

export interface EvidenceManifest extends ManifestFacts, Signed {
  readonly node: 'manifest';
}

const tenant = pattern(/^t_[0-9a-z]{16}$/, 'the id of a tenant');
const place = object({ receipt_id: nonEmptyText, at: timestamp });
const listOf =
  (item: Rule): Rule =>
  (value, path) => {
    if (!Array.isArray(value)) return { field: path, expected: 'a list' };
    for (const [index, one] of value.entries()) {
      const fault = item(one, `${path}[${index}]`);
      if (fault !== null) return fault;
    }
    return null;
  };

const signed = {
  type: constant(EVIDENCE_TYPE),
  issued_at: timestamp,
  issuer_did: did,
  issuer_pubkey: bytes32,
  key_id: keyId,
  sig_b64u: signature,
};

const purged = {
  sequence: integer(1),
  purged_at: timestamp,
  count: integer(1),
  first: place,
  last: place,
  ids_root: hex64,
};

const SHAPES: Readonly<Record<EvidenceNode, Rule>> = {
  manifest: object({
    ...signed,
    node: oneOf('manifest'),
    tenant,
    period: object({ from: timestamp, to: timestamp }),
    retention_days: integer(1),
    receipts: integer(0),
    anchored: integer(0),
    metering: integer(0),
    trust: object({ version: integer(1), root: sha256Text }),
    log: object({ origin: nonEmptyText, tree_size: integer(0), anchored_size: integer(0) }),
    purged: listOf(object(purged)),
    files: listOf(
      object(
        { path: nonEmptyText, size: integer(0), sha256: hex64 },
        { optional: { receipts: integer(1), first: place, last: place } },
      ),
    ),
  }),
  purge: object({
    ...signed,
    ...purged,
    node: oneOf('purge'),
    tenant,
    profiles: object({}),
    previous: nullable(hex64),
  }),
};

/** Signer and time (Unix milliseconds). */
interface Issuance {
  readonly did: string;
  readonly issuedAt: number;
}

/** Signs what is in a bundle, with a key of the purpose `bundle`. Returns its JCS text. */
export function signManifest(facts: ManifestFacts, issuance: Issuance, signer: Signer): Promise<string> {
  return sign('manifest', facts, issuance, signer);
}

/** Signs what has left the room, with a key of the purpose `bundle`. Returns its JCS text. */
export function signPurge(facts: PurgeFacts, issuance: Issuance, signer: Signer): Promise<string> {
  return sign('purge', facts, issuance, signer);
}

async function sign(
  node: EvidenceNode,
  facts: ManifestFacts | PurgeFacts,
  { did, issuedAt }: Issuance,
  signer: Signer,
): Promise<string> {
  const body = copyJson({
    ...facts,
    type: EVIDENCE_TYPE,
    node,
    issued_at: formatTimestamp(issuedAt),
    issuer_did: did,
    issuer_pubkey: toBase64url(signer.publicKey),
    key_id: signer.keyId,
  }) as JsonObject;
  const sig_b64u = toBase64url(await signer.sign(utf8(canonicalize(body))));
  return canonicalize({ ...body, sig_b64u });
}

/** Whom a signed document is judged by. */
export interface DocumentJudge {
  readonly trust: Trust;
  readonly engine?: Ed25519Engine | undefined;
}

/**
 * The manifest that a document is, its signature checked. Nothing is said of what is in the bundle.
 * @throws EvidenceFault manifest_malformed, manifest_signature, manifest_issuer
 */
export async function readManifest(document: JsonValue, judge: DocumentJudge): Promise<EvidenceManifest> {
  const what = await faultOf('manifest', document, judge);
  if (what !== null) throw new EvidenceFault(`manifest_${what.kind}`, what.message, 'manifest.json');
  return document as unknown as EvidenceManifest;
}

/** A record of what left the room, its signature checked. @throws EvidenceFault purge_invalid */
export async function readPurge(document: JsonValue, judge: DocumentJudge): Promise<PurgeRecord> {
  const what = await faultOf('purge', document, judge);
  if (what !== null) throw new EvidenceFault('purge_invalid', what.message, 'purges.ndjson');
  return document as unknown as PurgeRecord;
}

async function faultOf(
  node: EvidenceNode,
  document: JsonValue,
  { trust, engine = defaultEngine }: DocumentJudge,
): Promise<{ kind: 'malformed' | 'signature' | 'issuer'; message: string } | null> {
  const fault = SHAPES[node](document, '');
  if (fault !== null) return { kind: 'malformed', message: `${fault.field} must be ${fault.expected}.` };
  const { sig_b64u, ...body } = document as JsonObject & Signed;
  const publicKey = fromBase64url(body.issuer_pubkey, 32);
  const good = await verifyEd25519(engine, publicKey, canonicalBytes(body), fromBase64url(sig_b64u, 64));
  if (!good) return { kind: 'signature', message: `The ${node} was changed after it was signed.` };
  if (body.key_id.startsWith('did:key:') && body.key_id !== didKeyOf(publicKey)) {
    return { kind: 'issuer', message: 'key_id is not the did:key of issuer_pubkey.' };
  }
  const claims = {
    receiptId: `evidence/${node}`,
    profile: node,
    keyId: body.key_id,
    issuerPublicKey: body.issuer_pubkey,
    issuerDid: body.issuer_did,
    issuerVerified: null,
    issuedAt: secondsOf(body.issued_at),
    signature: sig_b64u,
  };
  const { checks, status } = judgeIssuer(claims, publicKey, trust, undefined, 'bundle');
  const bad = checks.find(({ ok }) => ok === false);
  if (bad !== undefined) return { kind: 'issuer', message: bad.detail };
  if (status === 'verified') return null;
  return { kind: 'issuer', message: `The trust bundle does not vouch for ${body.issuer_did}.` };
}
