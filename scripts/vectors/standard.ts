import { type JsonObject, toBase64url } from '../../packages/core/src/index.ts';
import {
  type Change,
  casesOf,
  changes,
  ISSUED_SECONDS,
  NO_KEY,
  NOT_REACHED,
  type ReceiptCase,
} from './cases.ts';
import { textAt, withMember, withoutMember } from './change.ts';
import { withSpareBits } from './forged.ts';
import { signers } from './keys.ts';
import { emitted, facts } from './profile-base.ts';
import { forgedProfiles } from './profile-forged.ts';
import { signByReference } from './sign.ts';
import { ACME_DID } from './stores.ts';

const { accepts, refuses } = casesOf('profile');
const { stranger, service, log } = signers;
const keys = { id: 'key_id', publicKey: 'issuer_pubkey' } as const;

const paid = { tx: `0x${'ab'.repeat(32)}`, amount: '0.0008' } as const;

export const seal = {
  seal_id: 'AAECAwQFBgcICQoLDA0ODw',
  ciphertext_sha256: '1'.repeat(64),
  key_commitment: '2'.repeat(64),
};

/** Changes to the members that standard and pq have in common. */
export const commonChanges: readonly Change[] = [
  ['agent_did', stranger.keyId],
  ['agent_proved', true],
  ['subject.sha256', '0'.repeat(64)],
  ['subject.content_type', 'text/plain'],
  ['subject.ok', false],
  ['purpose', null],
  ['settlement_reference.rail', 'wire'],
  ['settlement_reference.chain_id', 1],
  ['settlement_reference.asset', 'EURC'],
  ['settlement_reference.status', 'confirmed'],
  ['settlement_reference.tx', '0x00'],
  ['seal.sealed', true],
  ['seal.declaration', 'sealed'],
  ['reputation_context.reputation_tier', 'member_scale'],
  ['issued_at', '2026-01-15T11:00:01Z'],
  ['issuer_did', 'did:svc:nobody'],
  ['issuer_did', ACME_DID, ['signature', 'issuer']],
  ['issuer_pubkey', toBase64url(stranger.publicKey), NO_KEY],
  ['issuer_verified', false],
  ['key_id', stranger.keyId, NO_KEY],
  ['receipt.verify_uri', 'https://evil.example/verify'],
];

export async function standardCases(): Promise<ReceiptCase[]> {
  const good = await emitted('standard');
  const another = await emitted('standard', { purpose: 'another' });
  return [
    ...(await validCases(good)),
    ...changes(
      'profile',
      good,
      [...commonChanges, ['receipt.id', `r_standard_${ISSUED_SECONDS}_0123456789ac`]],
      withMember,
    ),
    ...(await forgedProfiles(good, another, keys)),
    refuses(
      're-signed by a stranger',
      'The named issuer does not hold the key.',
      await emitted('standard', {}, {}, stranger),
      ['issuer'],
    ),
    refuses(
      'signed by the log key',
      'A key signs for one purpose only.',
      await emitted('standard', {}, {}, log),
      ['issuer'],
    ),
    ...malformedCases(good),
    ...(await sizeCases(good)),
  ];
}

async function validCases(good: JsonObject): Promise<ReceiptCase[]> {
  return [
    accepts('minimal', 'Nothing settled, nothing sealed.', good, { nulls: ['anchor'] }),
    accepts(
      'settled and sealed',
      'A declared settlement, a seal, an agent that proved its DID.',
      await emitted('standard', {
        agentProved: true,
        seal,
        settlement: { ...facts.settlement, status: 'declared', tx: `0x${'cd'.repeat(32)}` },
      }),
    ),
    accepts(
      'declared',
      'What the caller declares is not checked.',
      await emitted('standard', { settlement: { ...facts.settlement, ...paid, status: 'declared' } }),
      { nulls: ['anchor'] },
    ),
    accepts(
      'paid',
      'It names the transaction that paid for it; the chain was not asked.',
      await emitted('standard', { settlement: { ...facts.settlement, ...paid, status: 'confirmed' } }),
      { nulls: ['anchor', 'settlement_transaction'] },
    ),
    accepts(
      'purpose absent',
      'purpose is optional.',
      await signByReference(withoutMember(good, 'purpose'), service),
    ),
    accepts(
      'settlement_reference as in the specification',
      'status and tx are additions: rail, chain_id and asset suffice.',
      await signByReference(
        withoutMember(withoutMember(good, 'settlement_reference.status'), 'settlement_reference.tx'),
        service,
      ),
    ),
    accepts('issuer not known', 'Integrity without trust.', good, {
      trust: 'empty',
      nulls: ['issuer', 'key_window', 'anchor'],
    }),
    accepts(
      'unknown signed member',
      'The format only adds members.',
      await signByReference({ ...good, x_note: 1 }, service),
    ),
  ];
}

function malformedCases(good: JsonObject): ReceiptCase[] {
  const list: Change[] = [
    ['receipt_profile', 'nano'],
    ['receipt_profile', 'gold'],
    ['receipt_profile', 'pq'],
    ['receipt_schema_version', 'r1.0.1'],
    ['agent_did', ''],
    ['agent_proved', null],
    ['subject.sha256', '0'.repeat(63)],
    ['subject.sha256', 'A'.repeat(64)],
    ['subject.content_type', ''],
    ['settlement_reference', null],
    ['settlement_reference.chain_id', '8453'],
    ['settlement_reference.chain_id', 1.5],
    ['settlement_reference.chain_id', -1],
    ['seal.sealed', 'no'],
    ['seal.ciphertext_sha256', 'none'],
    ['seal.key_commitment', null],
    ['reputation_context', {}],
    ['purpose', 7],
    ['issued_at', '2025-02-29T00:00:00Z'],
    ['issuer_pubkey', withSpareBits(textAt(good, 'issuer_pubkey'))],
    ['receipt.id', `r_env_${ISSUED_SECONDS}_0123456789ab`],
    ['receipt.sig_b64u', withSpareBits(textAt(good, 'receipt.sig_b64u'))],
  ];
  const missing = [
    'agent_did',
    'subject',
    'seal',
    'seal.declaration',
    'issuer_did',
    'issuer_verified',
    'receipt.id',
  ];
  return [
    ...list.map(([path, value]) =>
      refuses(
        `${path} is ${JSON.stringify(value)}`,
        'The form is wrong.',
        withMember(good, path, value),
        ['format'],
        NOT_REACHED,
      ),
    ),
    ...missing.map((path) =>
      refuses(`${path} missing`, 'It is required.', withoutMember(good, path), ['format'], NOT_REACHED),
    ),
  ];
}

async function sizeCases(good: JsonObject): Promise<ReceiptCase[]> {
  const sized = (bytes: number): Promise<JsonObject> => {
    const pad = bytes - JSON.stringify(good).length - ',"x":""'.length;
    return signByReference({ ...good, x: 'p'.repeat(pad) }, service);
  };
  return [
    accepts('3,072 bytes', 'The largest standard receipt.', await sized(3072)),
    refuses('3,073 bytes', 'One byte over the limit.', await sized(3073), ['size']),
  ];
}
