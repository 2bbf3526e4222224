import { toBase64url } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { PaymentRequirements } from '@x402/core/types';
import {
  createOfferJWS,
  createReceiptJWS,
  type JWSSigner,
  OFFER_RECEIPT,
} from '@x402/extensions/offer-receipt';

/**
 * The x402 extension `offer-receipt`: offers and receipts as JWS (RFC 7515, EdDSA) signed by the service's receipt key,
 * whose id is a did:key. The signed bytes of a JWS begin with `eyJ`, those of a receipt with `{`, so neither passes for
 * the other.
 */
export function offersOf(issuer: Pick<OwnIssuer, 'signer'>) {
  const signer = (): JWSSigner => {
    const key = issuer.signer('receipt');
    return {
      kid: verificationMethod(key.keyId),
      format: 'jws',
      algorithm: 'EdDSA',
      sign: async (bytes) => toBase64url(await key.sign(bytes)),
    };
  };
  return {
    key: OFFER_RECEIPT,
    async offers(url: string, accepts: readonly PaymentRequirements[]) {
      const made = accepts.map((one, acceptIndex) =>
        createOfferJWS(url, { ...one, acceptIndex, offerValiditySeconds: one.maxTimeoutSeconds }, signer()),
      );
      return { info: { offers: await Promise.all(made) } };
    },
    async receipt(url: string, paid: { payer: string; network: string; transaction: string | null }) {
      const { payer, network, transaction } = paid;
      const input = { resourceUrl: url, payer, network, ...(transaction !== null && { transaction }) };
      return { info: { receipt: await createReceiptJWS(input, signer()) } };
    },
  };
}

export type Offers = ReturnType<typeof offersOf>;

/** The key's own URL within its DID document (did:key, section 3.1). */
function verificationMethod(didKey: string): string {
  return `${didKey}#${didKey.slice('did:key:'.length)}`;
}
