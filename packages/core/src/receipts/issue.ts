import type { JsonObject } from '../json/types.ts';
import { secondsOf } from '../time.ts';
import { type Family, withoutUnsigned } from './family.ts';
import {
  boolean,
  bytes32,
  constant,
  did,
  integer,
  keyId,
  nonEmptyText,
  numberIn,
  object,
  pattern,
  signature,
  timestamp,
} from './shape.ts';

const ISSUE_TYPE = 'svc-issue-v1';

const issueShape = object(
  {
    type: constant(ISSUE_TYPE),
    receipt_id: pattern(/^r_issue_[0-9]{10,}_[0-9a-f]{12}$/, 'r_issue_<seconds>_<12 hex>'),
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

interface IssueReceipt extends JsonObject {
  receipt_id: string;
  issued_at: string;
  issuer_pubkey: string;
  issuer_verified: boolean;
  sig_b64u: string;
}

/** An issuer's own receipt, signed with the issuer's key and never stored by the service. */
export const issueReceipt: Family = {
  name: 'issue',
  recognises: (document) => document.type === ISSUE_TYPE,
  shape: (document) => issueShape(document, ''),
  claims(document) {
    const receipt = document as IssueReceipt;
    return {
      receiptId: receipt.receipt_id,
      profile: 'issue',
      keyId: typeof receipt.key_id === 'string' ? receipt.key_id : null,
      issuerPublicKey: receipt.issuer_pubkey,
      issuerDid: typeof receipt.issuer_did === 'string' ? receipt.issuer_did : null,
      issuerVerified: receipt.issuer_verified,
      issuedAt: secondsOf(receipt.issued_at),
      signature: receipt.sig_b64u,
    };
  },
  signed(document) {
    const { sig_b64u: _signature, ...signed } = withoutUnsigned(document);
    return signed;
  },
  signatureMembers: ({ sig_b64u }) => ({ sig_b64u: sig_b64u ?? null }),
  anchored: withoutUnsigned,
  counterSignatures: () => [],
  rules: () => [],
};
