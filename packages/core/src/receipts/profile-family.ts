import { type Claims, type Family, signerOf, withoutUnsigned } from './family.ts';
import { isFull } from './profiles/full.ts';
import type { ProfileForm, Referenced } from './profiles/profile.ts';
import { FORMS } from './profiles/registry.ts';
import { standardForm } from './profiles/standard.ts';
import {
  boolean,
  bytes32,
  did,
  type Infer,
  keyId,
  nonEmptyText,
  object,
  oneOf,
  signature,
  timestamp,
} from './shape.ts';

/** Shape of older receipts (specification 9.3): the members that verifying needs; other members are allowed. */
const legacyShape = object(
  {
    proof_tier: oneOf('standard', 'svc_pq'),
    key_id: keyId,
    issued_at: timestamp,
    receipt: object({ id: nonEmptyText, sig_b64u: signature }),
  },
  { optional: { issuer_did: did, issuer_pubkey: bytes32, issuer_verified: boolean } },
);

/** The signature of profiles and older receipts, which covers all but `receipt.sig_b64u` and the unsigned members. */
const signedByReference = {
  anchored: withoutUnsigned,
  signed(document: Referenced) {
    const { sig_b64u: _signature, ...reference } = document.receipt;
    return { ...withoutUnsigned(document), receipt: reference };
  },
  signatureMembers: ({ receipt }: Referenced) => ({ sig_b64u: receipt.sig_b64u }),
};

const inReference = ({ receipt }: Referenced): Pick<Claims, 'receiptId' | 'signature'> => ({
  receiptId: receipt.id,
  signature: receipt.sig_b64u,
});

const familyOfForm = (form: ProfileForm): Family<Referenced> => ({
  ...signedByReference,
  ...form,
  name: 'profile',
  claims: (document) => ({
    ...inReference(document),
    ...form.signer(document),
    profile: form.name,
    maxBytes: form.maxBytes,
  }),
});

/** Family of documents with an unknown profile, which are refused for not being standard receipts. */
const unknownProfile: Family = {
  ...familyOfForm(standardForm),
  recognises: isFull,
};

/** One family for each profile; each has the name `profile`. */
export const profileReceipts: readonly Family[] = [...FORMS.map(familyOfForm), unknownProfile];

export const legacyReceipt: Family<Infer<typeof legacyShape>> = {
  ...signedByReference,
  name: 'legacy',
  recognises: (document) => document.proof_tier !== undefined && document.receipt_profile === undefined,
  shape: legacyShape,
  claims: (document) => ({
    ...inReference(document),
    profile: document.proof_tier,
    ...signerOf(document),
  }),
};
