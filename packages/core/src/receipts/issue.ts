import { type Family, signerOf, typedFamily } from './family.ts';
import {
  boolean,
  bytes32,
  constant,
  did,
  type Infer,
  integer,
  keyId,
  nonEmptyText,
  numberIn,
  object,
  receiptIdOf,
  signature,
  timestamp,
} from './shape.ts';

const ISSUE_TYPE = 'svc-issue-v1';

const issueShape = object(
  {
    type: constant(ISSUE_TYPE),
    receipt_id: receiptIdOf('issue'),
    symbol: nonEmptyText,
    units: integer(0),
    amount_usd: numberIn(0, Number.MAX_SAFE_INTEGER),
    recipient: nonEmptyText,
    issued_at: timestamp,
    issuer_pubkey: bytes32,
    issuer_verified: boolean,
    sig_b64u: signature,
  },
  { optional: { issuer_did: did, key_id: keyId } },
);

/** A receipt that an issuer signs for itself. */
export type IssuedReceipt = Infer<typeof issueShape>;

/** An issuer's own receipt, signed with the issuer's key and never stored by the service. */
export const issueReceipt: Family<IssuedReceipt> = {
  ...typedFamily(ISSUE_TYPE),
  name: 'issue',
  shape: issueShape,
  claims: (document) => ({
    receiptId: document.receipt_id,
    profile: 'issue',
    ...signerOf(document),
    signature: document.sig_b64u,
  }),
};
