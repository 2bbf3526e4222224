import { type JsonObject, toBase64url } from '../../packages/core/src/index.ts';
import {
  type Change,
  casesOf,
  changes,
  ISSUED_AT,
  ISSUED_SECONDS,
  NO_KEY,
  NOT_REACHED,
  type ReceiptCase,
} from './cases.ts';
import { textAt, withMember, withoutMember } from './change.ts';
import { smallOrderKey, universalSignature, withLargeS, withSmallOrderR, withSpareBits } from './forged.ts';
import { signers } from './keys.ts';
import { signIssue } from './sign.ts';
import { ACME_DID } from './stores.ts';

const { accepts, refuses } = casesOf('issue');
const { acme, stranger, service } = signers;

/** An issuer's own receipt, by the parameters of the specification (2.9). */
const body: JsonObject = {
  type: 'svc-issue-v1',
  receipt_id: `r_issue_${ISSUED_SECONDS}_0123456789ab`,
  symbol: 'ACME',
  units: 25,
  amount_usd: 1250.5,
  recipient: '0x00000000000000000000000000000000000000aa',
  issued_at: ISSUED_AT,
  issuer_did: ACME_DID,
  issuer_pubkey: toBase64url(acme.publicKey),
  issuer_verified: false,
  key_id: acme.keyId,
};

export async function issueCases(): Promise<ReceiptCase[]> {
  const good = await signIssue(body, acme);
  return [
    ...(await validCases(good)),
    ...changes('issue', good, changedMembers, withMember),
    ...(await forgedCases(good)),
    ...malformedCases(good),
  ];
}

async function validCases(good: JsonObject): Promise<ReceiptCase[]> {
  const untrusted = { trusted: false, nulls: ['anchor'] };
  const withoutKeyId = withoutMember(body, 'key_id');
  const selfNamed = { ...withoutKeyId, issuer_did: acme.keyId };
  return [
    accepts('registered issuer', 'Registered is not verified: valid, not trusted.', good, untrusted),
    accepts(
      'without key_id',
      'issuer_pubkey alone names the key.',
      await signIssue(withoutKeyId, acme),
      untrusted,
    ),
    accepts(
      'without issuer_did',
      'The issuer is found by the key.',
      await signIssue(withoutMember(body, 'issuer_did'), acme),
      untrusted,
    ),
    accepts(
      'issuer named by its did:key',
      'The key that signed is the issuer.',
      await signIssue({ ...selfNamed, key_id: acme.keyId }, acme),
      {
        trusted: false,
        nulls: ['issuer', 'key_window', 'anchor'],
      },
    ),
    accepts(
      'issuer named by its did:key, without key_id',
      'The same, where only issuer_pubkey gives the key.',
      await signIssue(selfNamed, acme),
      {
        trusted: false,
        nulls: ['issuer', 'key_window', 'anchor'],
      },
    ),
    accepts(
      'zero units',
      'units and amount_usd start at 0.',
      await signIssue({ ...body, units: 0, amount_usd: 0 }, acme),
      untrusted,
    ),
    accepts(
      'unsigned members',
      'No signature covers them.',
      { ...good, anchor_ref: 'urn:anchor:x', tier: 'pro' },
      untrusted,
    ),
    accepts(
      'unknown signed member',
      'The format only adds members.',
      await signIssue({ ...body, memo: 'm' }, acme),
      untrusted,
    ),
  ];
}

const changedMembers: readonly Change[] = [
  ['receipt_id', `r_issue_${ISSUED_SECONDS}_0123456789ac`],
  ['symbol', 'ACMF'],
  ['units', 26],
  ['amount_usd', 1250.51],
  ['recipient', '0x00000000000000000000000000000000000000ab'],
  ['issued_at', '2026-01-15T11:00:01Z'],
  ['issuer_did', 'did:svc:nobody'],
  ['issuer_pubkey', toBase64url(stranger.publicKey), NO_KEY],
  ['issuer_verified', true, ['signature', 'issuer']],
  ['key_id', stranger.keyId, NO_KEY],
  ['unknown_member', 1],
];

async function forgedCases(good: JsonObject): Promise<ReceiptCase[]> {
  const signature = textAt(good, 'sig_b64u');
  const byStranger = { ...body, issuer_pubkey: toBase64url(stranger.publicKey), key_id: stranger.keyId };
  const verified = await signIssue({ ...body, issuer_verified: true }, acme);
  const smallOrder = {
    ...good,
    key_id: smallOrderKey.keyId,
    issuer_pubkey: smallOrderKey.publicKey,
    sig_b64u: universalSignature,
  };
  const otherDidKey = { ...withoutMember(body, 'key_id'), issuer_did: service.keyId };
  return [
    refuses('issuer_verified of a registered issuer', 'It claims more than is known.', verified, ['issuer']),
    accepts(
      'issuer_verified of an unknown issuer',
      'Nothing contradicts it, and nothing supports it.',
      verified,
      { trust: 'empty' },
    ),
    refuses(
      're-signed by a stranger',
      'The named issuer does not hold the key.',
      await signIssue(byStranger, stranger),
      ['issuer'],
    ),
    refuses(
      'issuer_did is the did:key of another',
      'That key did not sign.',
      await signIssue(otherDidKey, acme),
      ['issuer'],
    ),
    refuses(
      'key_id of another key',
      'Signed by a stranger who names the issuer’s key.',
      await signIssue(body, stranger),
      ['signature'],
    ),
    refuses(
      'small-order key',
      'The equation holds for every message; the key is refused.',
      smallOrder,
      NO_KEY,
    ),
    refuses(
      'small-order key without key_id',
      'issuer_pubkey is held to the same profile.',
      withoutMember(smallOrder, 'key_id'),
      NO_KEY,
    ),
    refuses('S + L', 'S must be below the group order.', { ...good, sig_b64u: withLargeS(signature) }, [
      'signature',
    ]),
    refuses(
      'small-order R',
      'R must not be of small order.',
      { ...good, sig_b64u: withSmallOrderR(signature) },
      ['signature'],
    ),
  ];
}

function malformedCases(good: JsonObject): ReceiptCase[] {
  const list: Change[] = [
    ['receipt_id', `r_env_${ISSUED_SECONDS}_0123456789ab`],
    ['symbol', ''],
    ['units', 1.5],
    ['units', -1],
    ['units', '25'],
    ['amount_usd', -0.01],
    ['amount_usd', '1250.5'],
    ['recipient', ''],
    ['issued_at', '2026-13-01T00:00:00Z'],
    ['issuer_did', null],
    ['issuer_verified', null],
    ['key_id', 'key-1'],
    ['sig_b64u', withSpareBits(textAt(good, 'sig_b64u'))],
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
    ...['symbol', 'units', 'issuer_pubkey', 'issuer_verified', 'sig_b64u'].map((path) =>
      refuses(`${path} missing`, 'It is required.', withoutMember(good, path), ['format'], NOT_REACHED),
    ),
  ];
}
