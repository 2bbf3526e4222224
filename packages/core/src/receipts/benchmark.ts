import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject } from '../json/types.ts';
import { formatTimestamp } from '../time.ts';
import { type Family, signerOf, typedFamily } from './family.ts';
import { bytes32, constant, did, type Infer, keyId, object, oneOf, signature, timestamp } from './shape.ts';

const BENCHMARK_TYPE = 'svc-benchmark-v1';

/** The documents of a benchmark: the summary, and the three that it sums up. */
export const BENCHMARK_NODES = ['benchmark', 'semantic', 'temporal', 'modality'] as const;
export type BenchmarkNode = (typeof BENCHMARK_NODES)[number];

const benchmarkShape = object({
  type: constant(BENCHMARK_TYPE),
  node: oneOf(...BENCHMARK_NODES),
  issued_at: timestamp,
  issuer_did: did,
  issuer_pubkey: bytes32,
  key_id: keyId,
  sig_b64u: signature,
});

/** Results that a service measured of itself, signed with a key for nothing else (spec/benchmark.md). */
export const benchmark: Family<Infer<typeof benchmarkShape>> = {
  ...typedFamily(BENCHMARK_TYPE),
  name: 'benchmark',
  keyPurpose: 'benchmark',
  shape: benchmarkShape,
  claims: (document) => ({
    ...signerOf(document),
    receiptId: `benchmark/${document.node}`,
    profile: document.node,
    issuerVerified: null,
    signature: document.sig_b64u,
  }),
};

/**
 * Signs a node of a benchmark.
 * @param content all members but `type`, `node` and those about signer and time
 * @param issuance DID of the issuer, and the time in Unix milliseconds
 * @returns its JCS text
 */
export async function signBenchmark(
  node: BenchmarkNode,
  content: object,
  issuance: { readonly did: string; readonly issuedAt: number },
  signer: Signer,
): Promise<string> {
  const body = copyJson({
    ...content,
    type: BENCHMARK_TYPE,
    node,
    issued_at: formatTimestamp(issuance.issuedAt),
    issuer_did: issuance.did,
    issuer_pubkey: toBase64url(signer.publicKey),
    key_id: signer.keyId,
  }) as JsonObject;
  const sig_b64u = toBase64url(await signer.sign(utf8(canonicalize(body))));
  return canonicalize({ ...body, sig_b64u });
}
