import type { CallOptions, Transport } from '../http/transport.ts';
import type { EnvelopeReceipt } from './documents.ts';
import { type Issued, issuedIn } from './issued.ts';

export interface MintFreeParams {
  /** Input that the receipt is about: hashed as UTF-8 by the service, and not stored. */
  readonly input: string;
  /** Purpose of the receipt; it is signed. */
  readonly purpose: string;
  /** Policy under which the request was made, `sha256:<64 hex>`. Like the two members below, it is signed as declared. */
  readonly policyHash?: string | undefined;
  /** Hash of the response: `sha256:<64 hex>`. */
  readonly responseHash?: string | undefined;
  /** Whether the response is sealed; only with `responseHash`. */
  readonly responseSealed?: boolean | undefined;
  /** Whether to anchor the receipt's hash. Needs an API key; with a Scale or Enterprise key every receipt is anchored. */
  readonly anchor?: boolean | undefined;
}

/** Mints a free receipt, without an account or a key. @throws ServiceError (empty_input, receipt_too_large, rate_limited…) */
export async function mintFree(
  transport: Transport,
  { input, purpose, policyHash, responseHash, responseSealed, anchor }: MintFreeParams,
  call?: CallOptions,
): Promise<Issued<EnvelopeReceipt>> {
  const members = {
    input,
    purpose,
    policy_hash: policyHash,
    response_hash: responseHash,
    response_sealed: responseSealed,
    anchor,
  };
  return issuedIn(await transport.post('/v1/receipt/free', members, call));
}
