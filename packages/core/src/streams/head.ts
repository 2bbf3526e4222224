import { didKeyOf } from '../did/key.ts';
import { defaultEngine } from '../ed25519/engines.ts';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import type { Signer } from '../ed25519/signer.ts';
import { fromBase64url, toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes, canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject } from '../json/types.ts';
import { signerOf } from '../receipts/family.ts';
import {
  bytes32,
  constant,
  did,
  hex64,
  type Infer,
  integer,
  keyId,
  nonEmptyText,
  nullable,
  object,
  requireShape,
  signature,
  timestamp,
} from '../receipts/shape.ts';
import { formatTimestamp } from '../time.ts';
import { assessIssuer } from '../trust/assess-issuer.ts';
import type { Trust } from '../trust/issuer.ts';

const HEAD_TYPE = 'svc-stream-head-v1';

const headShape = object({
  type: constant(HEAD_TYPE),
  stream: nonEmptyText,
  /** Number of receipts that the head counts. */
  count: integer(0),
  /** Hex. */
  head: hex64,
  /** When the stream was opened: receipts from before are not counted. */
  since: timestamp,
  at: timestamp,
  /** SHA-256, in hex, over the JCS of the head before; null in the first. */
  previous_sha256: nullable(hex64),
  issuer_did: did,
  issuer_pubkey: bytes32,
  key_id: keyId,
  sig_b64u: signature,
});

/** A signed statement of how many receipts a stream has, and which (spec/streams.md). */
export type StreamHead = Infer<typeof headShape>;

export type StreamHeadFacts = Pick<StreamHead, 'stream' | 'count' | 'head' | 'since' | 'previous_sha256'>;

/**
 * Signs a head with a key of the purpose `head`. Returns its JCS text.
 * @param issuance.at Unix milliseconds
 */
export async function signStreamHead(
  facts: StreamHeadFacts,
  issuance: { readonly did: string; readonly at: number },
  signer: Signer,
): Promise<string> {
  const body = copyJson({
    ...facts,
    type: HEAD_TYPE,
    at: formatTimestamp(Math.floor(issuance.at / 1000) * 1000),
    issuer_did: issuance.did,
    issuer_pubkey: toBase64url(signer.publicKey),
    key_id: signer.keyId,
  }) as JsonObject;
  const sig_b64u = toBase64url(await signer.sign(utf8(canonicalize(body))));
  return canonicalize({ ...body, sig_b64u });
}

/** SHA-256 of a head's JCS, in hex: what the next head and the log hold. */
export function streamHeadHash(head: StreamHead): string {
  return sha256Hex(canonicalBytes(head));
}

/** What the reader of a head knows, and by which engine its signature is verified. */
export interface StreamHeadReading {
  readonly trust?: Trust | undefined;
  readonly engine?: Ed25519Engine | undefined;
  /** Unix milliseconds at which the head is known to have existed, as by an anchor of its hash. */
  readonly anchoredAt?: number | undefined;
}

/**
 * Reads a head and verifies its signature. Given trust, its key must be the issuer's for heads, and in use at `at`. A key that
 * was compromised counts only for heads that existed before its revocation.
 * @throws stream_invalid
 */
export async function readStreamHead(
  document: unknown,
  { trust, engine = defaultEngine, anchoredAt }: StreamHeadReading,
): Promise<StreamHead> {
  const head = requireShape(headShape, copyJson(document), 'stream_invalid');
  const { sig_b64u, ...body } = head;
  const publicKey = fromBase64url(head.issuer_pubkey, 32);
  const isSigned = await verifyEd25519(
    engine,
    publicKey,
    canonicalBytes(body as unknown as JsonObject),
    fromBase64url(sig_b64u, 64),
  );
  if (!isSigned) throw headFault(head, 'was changed after it was signed');
  if (head.key_id.startsWith('did:key:') && head.key_id !== didKeyOf(publicKey)) {
    throw headFault(head, 'names another key than it was signed with');
  }
  if (trust === undefined) return head;
  const claims = {
    ...signerOf({ ...head, issued_at: head.at }),
    receiptId: head.stream,
    profile: HEAD_TYPE,
    issuerVerified: null,
    signature: sig_b64u,
  };
  const { checks, trusted } = assessIssuer(claims, publicKey, trust, anchoredAt, 'head');
  if (trusted) return head;
  const detail = checks.find(({ ok }) => !ok)?.detail ?? `nobody vouches for ${head.issuer_did}`;
  throw headFault(head, `does not count: ${detail}`);
}

function headFault({ stream, count }: StreamHead, what: string): TallyError {
  return new TallyError('stream_invalid', `The head of ${stream} at ${count} ${what}.`);
}
