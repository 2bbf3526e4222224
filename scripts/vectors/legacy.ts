import { type JsonObject, toBase64url } from '../../packages/core/src/index.ts';
import { type Change, casesOf, changes, ISSUED_AT, NO_KEY, NOT_REACHED, type ReceiptCase } from './cases.ts';
import { withMember, withoutMember } from './change.ts';
import { signers } from './keys.ts';
import { signByReference } from './sign.ts';
import { SERVICE_DID } from './stores.ts';

const { accepts, refuses } = casesOf('legacy');
const { service, stranger } = signers;

/** An older receipt: `proof_tier` and no `receipt_profile` (specification 9.3). */
const body: JsonObject = {
  proof_tier: 'standard',
  agent_did: signers.agent.keyId,
  payload_hash: '3'.repeat(64),
  issued_at: ISSUED_AT,
  issuer_did: SERVICE_DID,
  issuer_pubkey: toBase64url(service.publicKey),
  issuer_verified: true,
  key_id: service.keyId,
  receipt: { id: 'rcpt-2024-000117' },
};

export async function legacyCases(): Promise<ReceiptCase[]> {
  const good = await signByReference(body, service);
  const least = { proof_tier: 'svc_pq', issued_at: ISSUED_AT, key_id: service.keyId, receipt: { id: 'x' } };
  return [
    accepts('standard', 'Signed as a profile: all but receipt.sig_b64u.', good, { nulls: ['anchor'] }),
    accepts('svc_pq', 'The other tier.', await signByReference({ ...body, proof_tier: 'svc_pq' }, service)),
    accepts('fewest members', 'What verifying needs.', await signByReference(least, service)),
    accepts('unsigned members', 'No signature covers them.', { ...good, anchor_ref: 'urn:anchor:x' }),
    ...(await largeCases()),
    ...changes('legacy', good, changedMembers, withMember),
    refuses('re-signed by a stranger', 'Who names our key.', await signByReference(body, stranger), [
      'signature',
    ]),
    refuses(
      'signed by a stranger in our name',
      'The named issuer does not hold the key.',
      await signByReference(
        { ...body, key_id: stranger.keyId, issuer_pubkey: toBase64url(stranger.publicKey) },
        stranger,
      ),
      ['issuer'],
    ),
    ...malformedCases(good),
  ];
}

const changedMembers: readonly Change[] = [
  ['proof_tier', 'svc_pq'],
  ['payload_hash', '4'.repeat(64)],
  ['issued_at', '2026-01-15T11:00:01Z'],
  ['issuer_did', 'did:svc:nobody'],
  ['key_id', stranger.keyId, NO_KEY],
  ['receipt.id', 'rcpt-2024-000118'],
  ['unknown_member', 1],
];

/** Cases of large receipts: when older receipts were made, there was no limit. */
async function largeCases(): Promise<ReceiptCase[]> {
  const large = { ...body, x: 'p'.repeat(3072) };
  return [
    accepts(
      'svc_pq past 3,072 bytes',
      'Older receipts have no size limit.',
      await signByReference({ ...large, proof_tier: 'svc_pq' }, service),
    ),
    accepts(
      'standard past 3,072 bytes',
      'Older receipts have no size limit.',
      await signByReference(large, service),
    ),
  ];
}

function malformedCases(good: JsonObject): ReceiptCase[] {
  const list: Change[] = [
    ['proof_tier', 'gold'],
    ['proof_tier', null],
    ['key_id', 7],
    ['issued_at', ISSUED_AT.slice(0, 10)],
    ['receipt', 'rcpt-2024-000117'],
    ['receipt.id', ''],
    ['issuer_verified', 'yes'],
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
    ...['key_id', 'issued_at', 'receipt.sig_b64u'].map((path) =>
      refuses(`${path} missing`, 'Verifying needs it.', withoutMember(good, path), ['format'], NOT_REACHED),
    ),
  ];
}
