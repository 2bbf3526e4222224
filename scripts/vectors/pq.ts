import {
  canonicalBytes,
  type JsonObject,
  type JsonValue,
  PQ_ALGORITHM,
  type PqSigner,
  type ProfileFacts,
  toBase64url,
} from '../../packages/core/src/index.ts';
import { type Change, casesOf, changes, ISSUED_SECONDS, NOT_REACHED, type ReceiptCase } from './cases.ts';
import { textAt, withMember, withoutMember } from './change.ts';
import { signers } from './keys.ts';
import { pqSigner } from './pq-keys.ts';
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

const secondMalformed: readonly Change[] = [
  ['pq_signature', null],
  ['pq_signature', {}],
  ['pq_signature.alg', ''],
  ['pq_signature.key_id', 7],
  ['pq_signature.sig_b64u', null],
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
    ...(await secondSignatureCases()),
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

/** Receipts with the experimental second signature. */
async function secondSignatureCases(): Promise<ReceiptCase[]> {
  const by = (
    name: Parameters<typeof pqSigner>[0],
    changes: Partial<ProfileFacts> = {},
  ): Promise<JsonObject> => emitted('pq', changes, {}, signers.service, pqSigner(name));
  const good = await by('service');
  const another = await by('service', { auditorVerifier: true });
  const resigned = (path: string, value: JsonValue): Promise<JsonObject> =>
    signByReference(withMember(good, path, value), signers.service);
  const signature = textAt(good, 'pq_signature.sig_b64u');
  const bad = ['pq_signature'];
  return [
    accepts('signed twice', 'ML-DSA-65 over all but both signatures; Ed25519 over all but its own.', good, {
      nulls: ['anchor'],
    }),
    accepts('signed twice, issuer unknown', 'Nothing says which ML-DSA key the issuer has.', good, {
      trust: 'empty',
      nulls: ['issuer', 'key_window', 'pq_signature', 'anchor'],
    }),
    accepts(
      'ML-DSA key that is not listed',
      'A key that nobody vouches for proves nothing.',
      await by('stranger'),
      {
        nulls: ['pq_signature', 'anchor'],
      },
    ),
    accepts(
      'another algorithm',
      'What a later release may add is not judged.',
      await resigned('pq_signature.alg', 'ML-DSA-87'),
      { nulls: ['pq_signature', 'anchor'] },
    ),
    accepts('compromised ML-DSA key', 'Nothing proves that it signed before.', await by('compromised'), {
      nulls: ['pq_key_window', 'anchor'],
    }),
    refuses('retired ML-DSA key', 'It signed after its end.', await by('retired'), ['pq_key_window']),
    refuses('ML-DSA signature taken away', 'Ed25519 covers it.', withoutMember(good, 'pq_signature'), [
      'signature',
      ...bad,
    ]),
    refuses(
      'ML-DSA signature taken away and signed again',
      'The posture says that there is one.',
      await signByReference(withoutMember(good, 'pq_signature'), signers.service),
      bad,
    ),
    ...(await Promise.all(
      (
        [
          ['pq_posture', 'declared_not_post_quantum_signed'],
          ['crypto_agile_metadata.signature_posture', 'classical_only'],
        ] as const
      ).map(async ([path, said]) =>
        refuses(
          `signed twice, and ${path} says that it is not`,
          'The receipt contradicts itself, though both signatures hold.',
          await emittedAs(good, path, said, pqSigner('service')),
          bad,
        ),
      ),
    )),
    ...(await Promise.all(
      (
        [
          ['pq_posture', 'ml_dsa_65_signed_experimental'],
          ['crypto_agile_metadata.signature_posture', 'ed25519_and_ml_dsa_65_experimental'],
        ] as const
      ).map(async ([path, said]) =>
        refuses(
          `signed once, and ${path} says twice`,
          'The posture says that there is a second signature.',
          await emittedAs(await emitted('pq'), path, said, null),
          bad,
        ),
      ),
    )),
    accepts(
      'signed once, with postures of its own',
      'Other texts than those of the service say nothing that a verifier knows.',
      await emittedAs(
        withMember(await emitted('pq'), 'pq_posture', 'none'),
        'crypto_agile_metadata.signature_posture',
        'hybrid',
        null,
      ),
      { nulls: ['anchor'] },
    ),
    refuses(
      'ML-DSA signature of another receipt',
      'Only Ed25519 was made again.',
      await resigned('pq_signature.sig_b64u', textAt(another, 'pq_signature.sig_b64u')),
      bad,
    ),
    refuses(
      'contents changed and signed again',
      'As one could who has broken Ed25519 alone.',
      await resigned('subject.ok', false),
      bad,
    ),
    refuses(
      'ML-DSA signature too short',
      '3,309 bytes.',
      await resigned('pq_signature.sig_b64u', signature.slice(0, -4)),
      bad,
    ),
    refuses(
      'ML-DSA signature is no base64url',
      'Nothing to check.',
      await resigned('pq_signature.sig_b64u', '!'),
      bad,
    ),
    refuses(
      'ML-DSA signature of a changed byte',
      'The first one.',
      await resigned('pq_signature.sig_b64u', flipped(signature)),
      bad,
    ),
    ...secondMalformed.map(([path, value]) =>
      refuses(
        `${path} is ${JSON.stringify(value)}`,
        'The form is wrong.',
        withMember(good, path, value),
        ['format'],
        NOT_REACHED,
      ),
    ),
  ];
}

/** Puts another text at a path of the receipt and signs it anew: by Ed25519, and by ML-DSA if a signer for that is given. */
async function emittedAs(
  receipt: JsonObject,
  path: string,
  said: string,
  pq: PqSigner | null,
): Promise<JsonObject> {
  const { pq_signature: _old, receipt: reference, ...facts } = withMember(receipt, path, said);
  const { sig_b64u: _signature, ...named } = reference as JsonObject;
  const unsigned = { ...facts, receipt: named };
  const second =
    pq === null
      ? {}
      : {
          pq_signature: {
            alg: PQ_ALGORITHM,
            key_id: pq.keyId,
            sig_b64u: toBase64url(await pq.sign(canonicalBytes(unsigned))),
          },
        };
  return signByReference({ ...unsigned, ...second }, signers.service);
}

const flipped = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
