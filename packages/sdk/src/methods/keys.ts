import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { BuyKeyAnswer, KeyOrder, QuoteKeyAnswer } from './documents.ts';
import { read, send } from './read.ts';

/** Anchor keys that are bought (specification 5.4). No account is needed. */
export interface KeyMethods {
  /** Asks for the exact amount by which a transfer is recognised as the payment of a key. @throws ServiceError (payments_off…) */
  quoteKey(params: QuoteKeyParams, call?: CallOptions): Promise<QuoteKeyAnswer>;
  /** Reads an order of a key or a top-up by its id. @throws ServiceError (order_not_found) */
  getKeyOrder(orderId: string, call?: CallOptions): Promise<KeyOrder>;
  /**
   * Buys a key by x402; needs a `fetch` that pays. A retry with the same idempotency key is not paid again.
   * @throws ServiceError (payment_required with the terms in `problem.payment`, if the fetch does not pay; payments_off)
   */
  buyKey(params: BuyKeyParams, call?: CallOptions): Promise<BuyKeyAnswer>;
}

export interface BuyKeyParams {
  readonly tier: 'pro' | 'scale';
  /** 1 when absent; 12 months cost as much as ten. */
  readonly months?: 1 | 12 | undefined;
  /** E-mail address, domain or DID. The key that `quoteKey` sells is sent there; for `buyKey` it is a note. */
  readonly contact?: string | undefined;
  /** DID of an issuer. The key that `quoteKey` sells is sealed to it if there is no contact; for `buyKey` it is a note. */
  readonly issuerDid?: string | undefined;
}

export interface QuoteKeyParams extends BuyKeyParams {
  /** Id of a key to extend, instead of a new one being sold. */
  readonly renew?: string | undefined;
}

export function keyMethods(transport: Transport): KeyMethods {
  return {
    quoteKey: ({ renew, ...params }, call) =>
      send(transport, '/v1/anchor/keys/quote', { ...membersOf(params), renew }, call),
    getKeyOrder: async (orderId, call) =>
      read(transport, `/v1/anchor/keys/orders/${pathPart(orderId, 'orderId')}`, call),
    buyKey: (params, call) => send(transport, '/v1/anchor/keys', membersOf(params), call),
  };
}

function membersOf({ tier, months, contact, issuerDid }: BuyKeyParams): object {
  return { tier, months, contact, issuer_did: issuerDid };
}
