import type { JsonObject } from '../../packages/core/src/index.ts';
import { casesOf, NO_KEY, type ReceiptCase } from './cases.ts';
import { textAt, withMember } from './change.ts';
import {
  smallOrderKey,
  universalSignature,
  withLargeS,
  withNonCanonicalR,
  withSmallOrderR,
} from './forged.ts';
import { signers } from './keys.ts';
import { signByReference } from './sign.ts';

const { accepts, refuses } = casesOf('profile');

/** Cases of forgeries that apply to every profile. `another` is a receipt of the same key with other contents. */
export async function forgedProfiles(
  good: JsonObject,
  another: JsonObject,
  key: { id: 'k' | 'key_id'; publicKey?: 'issuer_pubkey' },
): Promise<ReceiptCase[]> {
  const signature = textAt(good, 'receipt.sig_b64u');
  const signed = (value: string): JsonObject => withMember(good, 'receipt.sig_b64u', value);
  const smallOrder = {
    ...signed(universalSignature),
    [key.id]: smallOrderKey.keyId,
    ...(key.publicKey === undefined ? {} : { [key.publicKey]: smallOrderKey.publicKey }),
  };
  const failing = ['signature'];
  return [
    refuses(
      'key id of another key',
      'Signed by a stranger who names our key.',
      await signByReference(good, signers.stranger),
      failing,
    ),
    refuses(
      'signature of another receipt',
      'A good signature of the right key over other contents.',
      signed(textAt(another, 'receipt.sig_b64u')),
      failing,
    ),
    refuses(
      'small-order key',
      'The equation holds for every message; the key is refused.',
      smallOrder,
      NO_KEY,
    ),
    refuses('S + L', 'S must be below the group order.', signed(withLargeS(signature)), failing),
    refuses('small-order R', 'R must not be of small order.', signed(withSmallOrderR(signature)), failing),
    refuses('R out of range', 'R must be canonical.', signed(withNonCanonicalR(signature)), failing),
    accepts('unsigned members', 'No signature covers them, and they do not count in the size.', {
      ...good,
      anchor_ref: 'urn:anchor:pending:2026-01-15T12:00Z:0',
      tier: 'pro',
      anchor: null,
    }),
  ];
}
