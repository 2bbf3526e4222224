import { didKeyOf } from '../did/key.ts';
import { defaultEngine } from '../ed25519/engines.ts';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import type { Signer } from '../ed25519/signer.ts';
import { fromBase64url, toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { canonicalBytes, canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { signerOf } from '../receipts/family.ts';
import {
  bytes32,
  constant,
  did,
  hex64,
  type Infer,
  integer,
  keyId,
  listOf,
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
import { formatTimestamp } from '../time.ts';
import { assessIssuer } from '../trust/assess-issuer.ts';
import type { Trust } from '../trust/issuer.ts';
import { EvidenceFault } from './fault.ts';

const EVIDENCE_TYPE = 'svc-evidence-v1';

const tenant = pattern(/^t_[0-9a-z]{16}$/, 'the id of a tenant');

const place = object({ receipt_id: nonEmptyText, at: timestamp });

/** Position of a receipt in the room, where receipts are ordered by the second of issue, then by id. */
export type EvidencePlace = Infer<typeof place>;

const file = object(
  {
    path: nonEmptyText,
    size: integer(0),
    /** SHA-256 of the file, in hex. */
    sha256: hex64,
  },
  {
    optional: {
      /** Number of receipts, one on each line. */
      receipts: integer(1),
      first: place,
      last: place,
    },
  },
);

/** One file of a bundle. A file of receipts also says how many it holds, and which come first and last. */
export type EvidenceFile = Infer<typeof file>;

/** Members about signer and signature that the manifest and the purge record both have. */
const signed = {
  type: constant(EVIDENCE_TYPE),
  issued_at: timestamp,
  issuer_did: did,
  issuer_pubkey: bytes32,
  key_id: keyId,
  sig_b64u: signature,
};

const purged = {
  /** Number of the record: counts from 1, without a gap. */
  sequence: integer(1),
  purged_at: timestamp,
  count: integer(1),
  first: place,
  last: place,
  /** RFC 6962 root, in hex, over the receipt ids in UTF-8, in the order of the room. */
  ids_root: hex64,
};

const manifestShape = object({
  ...signed,
  node: oneOf('manifest'),
  tenant,
  /** Period of the receipts: half-open, and no longer than the room keeps them. */
  period: object({ from: timestamp, to: timestamp }),
  retention_days: integer(1),
  receipts: integer(0),
  /** Number of the receipts that are under a root that is final on the chain. */
  anchored: integer(0),
  /** Number of the receipts that are metering receipts. */
  metering: integer(0),
  trust: object({ version: integer(1), root: sha256Text }),
  log: object({ origin: nonEmptyText, tree_size: integer(0), anchored_size: integer(0) }),
  purged: listOf(object(purged)),
  /** Files in the order of the archive, after the manifest itself. */
  files: listOf(file),
});

const purgeShape = object({
  ...signed,
  ...purged,
  node: oneOf('purge'),
  tenant,
  profiles: object({}),
  /** SHA-256, in hex, of the JCS of the previous record; null in the first. */
  previous: nullable(hex64),
});

/** Members of a document without those about its kind, signer and signature. */
type Facts<T> = Omit<T, keyof typeof signed | 'node'>;

export type EvidenceManifest = Infer<typeof manifestShape>;
export type ManifestFacts = Facts<EvidenceManifest>;

export type PurgeRecord = Omit<Infer<typeof purgeShape>, 'profiles'> & {
  /** Number of receipts that left the room, by profile. */
  readonly profiles: Readonly<Record<string, number>>;
};
/** Facts about the receipts that left the room in one sweep (spec/evidence.md). */
export type PurgeFacts = Facts<PurgeRecord>;

/** Signer and time (Unix milliseconds). */
interface Issuance {
  readonly did: string;
  readonly issuedAt: number;
}

/** Signs the manifest of a bundle with a key of the purpose `bundle`. Returns its JCS text. */
export function signManifest(facts: ManifestFacts, issuance: Issuance, signer: Signer): Promise<string> {
  return sign('manifest', facts, issuance, signer);
}

/** Signs the record of a purge with a key of the purpose `bundle`. Returns its JCS text. */
export function signPurge(facts: PurgeFacts, issuance: Issuance, signer: Signer): Promise<string> {
  return sign('purge', facts, issuance, signer);
}

async function sign(
  node: SignedDocument['node'],
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

/** Trust and engine by which the signature of a document is verified. */
export interface DocumentTrust {
  readonly trust: Trust;
  readonly engine?: Ed25519Engine | undefined;
}

/**
 * Reads a manifest and verifies its signature. The other files of the bundle are not checked here.
 * @throws EvidenceFault manifest_malformed, manifest_signature, manifest_issuer
 */
export async function readManifest(
  document: JsonValue,
  documentTrust: DocumentTrust,
): Promise<EvidenceManifest> {
  return read(manifestShape, document, documentTrust, (kind, message) => {
    throw new EvidenceFault(`manifest_${kind}`, message, 'manifest.json');
  });
}

/** Reads the record of a purge and verifies its signature. @throws EvidenceFault purge_invalid */
export async function readPurge(document: JsonValue, documentTrust: DocumentTrust): Promise<PurgeRecord> {
  return read(purgeShape, document, documentTrust, (_kind, message) => {
    throw new EvidenceFault('purge_invalid', message, 'purges.ndjson');
  });
}

type Refuse = (kind: 'malformed' | 'signature' | 'issuer', message: string) => never;

/** Members that the manifest and the purge record both have. */
type SignedDocument = Pick<EvidenceManifest, keyof typeof signed> & {
  readonly node: (EvidenceManifest | PurgeRecord)['node'];
};

async function read<T extends SignedDocument>(
  shape: Rule<T>,
  document: JsonValue,
  { trust, engine = defaultEngine }: DocumentTrust,
  refuse: Refuse,
): Promise<T> {
  const fault = shape(document, '');
  if (fault !== null) return refuse('malformed', `${fault.field} must be ${fault.expected}.`);
  const read = document as JsonObject & T;
  const { sig_b64u, ...body } = read as JsonObject & SignedDocument;
  const publicKey = fromBase64url(body.issuer_pubkey, 32);
  const good = await verifyEd25519(engine, publicKey, canonicalBytes(body), fromBase64url(sig_b64u, 64));
  if (!good) return refuse('signature', `The ${body.node} was changed after it was signed.`);
  if (body.key_id.startsWith('did:key:') && body.key_id !== didKeyOf(publicKey)) {
    return refuse('issuer', 'key_id is not the did:key of issuer_pubkey.');
  }
  const claims = {
    ...signerOf(body),
    receiptId: `evidence/${body.node}`,
    profile: body.node,
    issuerVerified: null,
    signature: sig_b64u,
  };
  // Nothing dates what a compromised key signed but, for a record of purges, the manifest that repeats it.
  const anchoredAt = body.node === 'purge' ? 0 : undefined;
  const { checks, trusted } = assessIssuer(claims, publicKey, trust, anchoredAt, 'bundle');
  if (trusted) return read;
  const bad = checks.find(({ ok }) => !ok);
  return refuse('issuer', bad?.detail ?? `The trust bundle does not vouch for ${body.issuer_did}.`);
}
