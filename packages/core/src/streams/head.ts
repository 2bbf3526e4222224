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
import { formatTimestamp, secondsOf } from '../time.ts';
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

/**
 * Reads a head and verifies its signature. Given trust, its key must be the issuer's for heads, and in use at `at`.
 * @throws stream_invalid
 */
export async function readStreamHead(
  document: unknown,
  {
    trust,
    engine = defaultEngine,
  }: { readonly trust?: Trust | undefined; readonly engine?: Ed25519Engine | undefined },
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
    receiptId: head.stream,
    profile: HEAD_TYPE,
    keyId: head.key_id,
    issuerPublicKey: head.issuer_pubkey,
    issuerDid: head.issuer_did,
    issuerVerified: null,
    issuedAt: secondsOf(head.at),
    signature: sig_b64u,
  };
  const { checks, status } = assessIssuer(claims, publicKey, trust, undefined, 'head');
  const bad = checks.find(({ ok }) => ok === false);
  if (bad !== undefined) throw headFault(head, `does not count: ${bad.detail}`);
  if (status === 'verified') return head;
  throw headFault(head, `does not count: the trust bundle does not vouch for ${head.issuer_did}`);
}

function headFault({ stream, count }: StreamHead, what: string): TallyError {
  return new TallyError('stream_invalid', `The head of ${stream} at ${count} ${what}.`);
}
