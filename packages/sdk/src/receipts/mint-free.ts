import type { CallOptions, Transport } from '../http/transport.ts';
import type { EnvelopeReceipt } from './documents.ts';
import { type Issued, issuedIn } from './issued.ts';

export interface MintFreeParams {
  /** Input that the receipt is about: hashed as UTF-8 by the service, and not stored. */
  readonly input: string;
  /** Purpose of the receipt; it is signed. */
  readonly purpose: string;
  /** `sha256:<64 hex>` of the policy that held for the request. What you say here is signed as declared. */
  readonly policyHash?: string | undefined;
  /** `sha256:<64 hex>` of what came of it; signed as declared. */
  readonly responseHash?: string | undefined;
  /** Whether the response is sealed; with `responseHash`, signed as declared. */
  readonly responseSealed?: boolean | undefined;
  /** Have the receipt's hash anchored. Needs an API key; a Scale or Enterprise key does so for every receipt. */
  readonly anchor?: boolean | undefined;
}

/** Mints a free receipt: no account, no key. @throws ServiceError (empty_input, receipt_too_large, rate_limited…) */
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
