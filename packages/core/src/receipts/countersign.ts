import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes, canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject } from '../json/types.ts';
import { readReceipt } from '../verify.ts';
import { envelope } from './envelope.ts';
import type { CounterSignature } from './family.ts';

/**
 * Adds the requester's or the operator's signature to an envelope. Nothing that was signed before changes.
 * @returns the JCS text of the receipt with the signature
 * @throws not_a_receipt, countersign_mismatch when the receipt names nobody in that role or another did:key
 */
export async function countersign(
  document: unknown,
  role: CounterSignature['role'],
  signer: Signer,
): Promise<string> {
  const { family, receipt } = readReceipt(copyJson(document));
  const party = family.counterSignatures?.(receipt).find((counter) => counter.role === role);
  if (family !== envelope || party === undefined) {
    throw new TallyError('not_a_receipt', 'Only an envelope (svc-receipt-v1) can be counter-signed.');
  }
  const member = role === 'requester' ? 'request.origin' : 'operator.entity';
  if (party.did === null) {
    throw new TallyError('countersign_mismatch', `The receipt names no ${role} (${member} is null).`, {
      field: member,
    });
  }
  if (party.did.startsWith('did:key:') && party.did !== signer.keyId) {
    throw new TallyError(
      'countersign_mismatch',
      `The receipt's ${role} is ${party.did}, but the key is ${signer.keyId}.`,
      { field: member },
    );
  }
  const signature = toBase64url(await signer.sign(canonicalBytes(family.signed(receipt))));
  return canonicalize({
    ...receipt,
    signatures: { ...(receipt.signatures as JsonObject), [role]: signature },
  });
}

/**
 * Returns the hash that an anchor of this receipt proves (32 bytes as hex): SHA-256 over the JCS of the receipt with
 * the issuer's own signature, without unsigned members, counter-signatures null.
 * @throws not_a_receipt
 */
export function anchoredHash(document: unknown): string {
  const { family, receipt } = readReceipt(copyJson(document));
  return sha256Hex(canonicalBytes(family.anchored(receipt)));
}
