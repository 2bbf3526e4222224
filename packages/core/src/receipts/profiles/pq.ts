import { type PqSignature, posturesOf } from '../../ml-dsa/pq-signature.ts';
import { boolean, constant, type Infer, nonEmptyText, nullable, object, text } from '../shape.ts';
import { fullBody, fullForm, fullMembers, fullOptions } from './full.ts';
import { type ProfileForm, type ReceiptOf, type ReceiptProfile, reference } from './profile.ts';

const shape = object(
  {
    receipt_profile: constant('pq'),
    ...fullMembers,
    receipt: reference('pq'),
    crypto_agile_metadata: object({
      current_alg: constant('Ed25519'),
      signature_posture: nonEmptyText,
      envelope_posture: nonEmptyText,
    }),
    sealed_evidence_ref: nullable(text),
    pq_posture: nonEmptyText,
    auditor_verifier: boolean,
  },
  {
    optional: {
      ...fullOptions.optional,
      pq_signature: object({ alg: nonEmptyText, key_id: nonEmptyText, sig_b64u: text }),
    },
  },
);

export const pqForm: ProfileForm<'pq', Infer<typeof shape>> = {
  ...fullForm('pq'),
  maxBytes: null,
  shape,
  pqSignature({ pq_signature, pq_posture, crypto_agile_metadata: { signature_posture } }) {
    const untrue = posturesOf(!pq_signature);
    return untrue.includes(pq_posture) || untrue.includes(signature_posture) ? null : pq_signature;
  },
};

/** Added by `emitReceipt` where the issuer has a key for it, because it covers all other members. */
const secondSignature: { readonly pq_signature?: PqSignature } = {};

/**
 * Profile pq (specification 2.8): stored for long. It is signed with Ed25519, and declares a post-quantum posture: that
 * there is no other signature, or an experimental one by ML-DSA-65.
 */
export const pq = {
  name: 'pq',
  form: pqForm,
  pqSigned: true,
  body: (facts, issuance, signer, pqSigned) => ({
    receipt_profile: 'pq' as const,
    ...fullBody(facts, issuance, signer),
    crypto_agile_metadata: {
      current_alg: 'Ed25519' as const,
      signature_posture: posturesOf(pqSigned)[1],
      envelope_posture: 'aes_256_gcm_when_sealed',
    },
    sealed_evidence_ref: facts.sealedEvidenceRef,
    pq_posture: posturesOf(pqSigned)[0],
    auditor_verifier: facts.auditorVerifier,
    ...secondSignature,
  }),
  maxEmitted: 65_536,
  remedy: 'Shorten the texts that you gave (DIDs, purpose, content_type, references).',
  retentionDays: 2557,
  priceUsd: '0.0012',
  schemes: ['exact'],
  bare: false,
  carries: ['purpose', 'settlement_reference', 'seal', 'sealed_evidence_ref', 'auditor_verifier'],
  reputation: true,
  recommendedBy: ['regulated', 'retention'],
  when: 'regulated or kept long: about seven years, with a declared crypto posture',
  limits: 'is kept about seven years',
  kept: 'seven years',
  page: {
    title: 'PQ profile',
    proves: ['The subject’s hash commits to one payload: anyone who has the payload can compare.'],
    not: [
      'Anything against a quantum computer, unless the check pq_signature passed: then an ML-DSA-65 key that your trust bundle lists signed it too. That is experimental, and the bundle itself is signed with Ed25519.',
      'That the named agent asked for it, unless agent_proved is true.',
      'That a payment was settled.',
    ],
  },
} as const satisfies ReceiptProfile;

export type PqReceipt = ReceiptOf<typeof pq>;
