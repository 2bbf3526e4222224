import type { JsonObject } from '../../packages/core/src/index.ts';
import { type Change, casesOf, changes, ISSUED_SECONDS, NOT_REACHED, type ReceiptCase } from './cases.ts';
import { withMember, withoutMember } from './change.ts';
import { signers } from './keys.ts';
import { emitted } from './profile-base.ts';
import { forgedProfiles } from './profile-forged.ts';
import { signByReference } from './sign.ts';
import { commonChanges, seal } from './standard.ts';

const { accepts, refuses } = casesOf('profile');
const keys = { id: 'key_id', publicKey: 'issuer_pubkey' } as const;

const pqChanges: readonly Change[] = [
  ['crypto_agile_metadata.signature_posture', 'hybrid'],
  ['crypto_agile_metadata.envelope_posture', 'none'],
  ['crypto_agile_metadata.unknown_member', true],
  ['sealed_evidence_ref', 'urn:example:evidence'],
  ['pq_posture', 'post_quantum_signed'],
  ['auditor_verifier', true],
  ['receipt.id', `r_pq_${ISSUED_SECONDS}_0123456789ac`],
];

const malformed: readonly Change[] = [
  ['crypto_agile_metadata.current_alg', 'ML-DSA-65'],
  ['crypto_agile_metadata.signature_posture', ''],
  ['crypto_agile_metadata', null],
  ['sealed_evidence_ref', false],
  ['pq_posture', ''],
  ['auditor_verifier', null],
  ['receipt.id', `r_standard_${ISSUED_SECONDS}_0123456789ab`],
  ['receipt_profile', 'standard'],
];

export async function pqCases(): Promise<ReceiptCase[]> {
  const good = await emitted('pq');
  const another = await emitted('pq', { auditorVerifier: true });
  return [
    ...(await validCases(good, another)),
    ...changes('profile', good, [...commonChanges, ...pqChanges], withMember),
    ...(await forgedProfiles(good, another, keys)),
    refuses(
      're-signed by a stranger',
      'The named issuer does not hold the key.',
      await emitted('pq', {}, {}, signers.stranger),
      ['issuer'],
    ),
    ...malformedCases(good),
  ];
}

async function validCases(good: JsonObject, another: JsonObject): Promise<ReceiptCase[]> {
  const evidence = await emitted('pq', { seal, sealedEvidenceRef: 'urn:example:evidence' });
  return [
    accepts('minimal', 'sealed_evidence_ref may be null.', good, { nulls: ['anchor'] }),
    accepts('auditor verifies', 'auditor_verifier is a fact, not a check.', another),
    accepts('sealed evidence', 'A reference to evidence kept elsewhere.', evidence),
    accepts(
      'past 3,072 bytes',
      'pq has no size limit.',
      await signByReference({ ...good, x: 'p'.repeat(3072) }, signers.service),
    ),
  ];
}

function malformedCases(good: JsonObject): ReceiptCase[] {
  const missing = [
    'crypto_agile_metadata',
    'sealed_evidence_ref',
    'pq_posture',
    'auditor_verifier',
    'subject',
  ];
  return [
    ...malformed.map(([path, value]) =>
      refuses(
        `${path} is ${JSON.stringify(value)}`,
        'The form is wrong.',
        withMember(good, path, value),
        ['format'],
        NOT_REACHED,
      ),
    ),
    ...missing.map((path) =>
      refuses(`${path} missing`, 'Absent is not null.', withoutMember(good, path), ['format'], NOT_REACHED),
    ),
  ];
}
