import {
  canonicalize,
  fromHex,
  type JsonObject,
  sha256Hex,
  toBase64url,
  utf8,
} from '../../packages/core/src/index.ts';
import { leaves, signedBody } from './bill.ts';
import { ISSUED_SECONDS } from './cases.ts';
import { withMember } from './change.ts';
import { minted } from './envelope-base.ts';
import { signers } from './keys.ts';
import { emitted } from './profile-base.ts';
import { signature, signMetering } from './sign.ts';

/** A receipt and its anchored hash, that of `anchored` (JCS text), as hex and in the form that is sent. */
export interface AnchoredHashCase {
  readonly name: string;
  readonly comment: string;
  readonly document: JsonObject;
  readonly expected:
    | { readonly anchored: string; readonly sha256: string; readonly canonical_sha256: string }
    | { readonly code: string };
}

export async function anchoredHashCases(): Promise<AnchoredHashCase[]> {
  const envelope = await minted();
  const { signatures, ...body } = envelope;
  const countersigned = withMember(envelope, 'signatures.requester', await signature(body, signers.agent));
  const unsigned = { anchor_ref: 'urn:anchor:base:1:0xab:0', tier: 'pro', anchor: { any: 1 } };
  const nano = await emitted('nano');
  const standard = await emitted('standard');
  const metering = await signMetering(
    signedBody({ billed: 1, leaves: leaves(1) }),
    ISSUED_SECONDS,
    signers.service,
  );
  const resigned = withMember(envelope, 'signatures', { ...(signatures as JsonObject), svc: 'A'.repeat(86) });
  return [
    hashed('envelope', 'The whole receipt.', envelope, envelope),
    hashed(
      'envelope, counter-signed',
      'Counter-signatures are null: the hash stays.',
      countersigned,
      envelope,
    ),
    hashed(
      'envelope, unsigned members',
      'They are left out: the hash stays.',
      { ...envelope, ...unsigned },
      envelope,
    ),
    hashed('envelope, another signature', 'The issuer’s signature is part of it.', resigned, resigned),
    hashed('nano', 'The whole receipt, its signature included.', nano, nano),
    hashed('standard, unsigned members', 'They are left out.', { ...standard, ...unsigned }, standard),
    hashed('metering', 'The whole receipt, not only the signed body.', metering, metering),
    {
      name: 'malformed',
      comment: 'Only receipts are anchored.',
      document: { ...nano, h: 'short' },
      expected: { code: 'not_a_receipt' },
    },
    { name: 'no receipt', comment: 'Of no known family.', document: {}, expected: { code: 'not_a_receipt' } },
  ];
}

function hashed(
  name: string,
  comment: string,
  document: JsonObject,
  anchoredDocument: JsonObject,
): AnchoredHashCase {
  const anchored = canonicalize(anchoredDocument);
  const sha256 = sha256Hex(utf8(anchored));
  return {
    name,
    comment,
    document,
    expected: { anchored, sha256, canonical_sha256: toBase64url(fromHex(sha256)) },
  };
}
