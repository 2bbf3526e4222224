import { type JsonObject, type JsonValue, toBase64url } from '../../packages/core/src/index.ts';
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
import { facts, minted } from './envelope-base.ts';
import {
  smallOrderKey,
  universalSignature,
  withLargeS,
  withNonCanonicalR,
  withSmallOrderR,
  withSpareBits,
} from './forged.ts';
import { signers } from './keys.ts';
import { signEnvelope } from './sign.ts';
import { ACME_DID, OPERATOR_DID } from './stores.ts';

const family = 'envelope';
const { accepts, refuses } = casesOf(family);
const otherHash = `sha256:${'0'.repeat(64)}`;

export async function envelopeCases(): Promise<ReceiptCase[]> {
  const good = await minted();
  return [
    ...(await validCases(good)),
    ...changes(family, good, changedMembers(), withMember),
    ...(await forgedCases(good)),
    ...(await malformedCases(good)),
    ...(await sizeCases()),
  ];
}

async function validCases(good: JsonObject): Promise<ReceiptCase[]> {
  const everything = await minted({
    request: { ...facts.request, policy_hash: otherHash },
    operator: { entity: OPERATOR_DID, region: 'eu-central-1', training_region: 'eu-west-1' },
    hardware: { class: 'gpu', attestation: 'urn:example:attestation' },
    settlement: { chain: 'base', asset: 'USDC', tx: `0x${'ab'.repeat(32)}` },
  });
  const nothing = await minted({
    request: { hash: null, origin: null, purpose: null, policy_hash: null },
    operator: { entity: null, region: null, training_region: null },
    response: { hash: null, sealed: null },
  });
  const unsigned = {
    ...good,
    anchor_ref: 'urn:anchor:pending:2026-01-15T12:00Z:0',
    tier: 'pro',
    anchor: { any: 1 },
  };
  const nulls = ['signature_requester', 'signature_operator', 'anchor'];
  return [
    accepts('minimal', 'A free mint by a verified issuer.', good, { nulls }),
    accepts('every member known', 'All that an envelope can say.', everything),
    accepts(
      'paid',
      'It names the transaction that paid for it; the chain was not asked.',
      await minted({
        settlement: { chain: 'eip155:8453', asset: 'USDC', tx: `0x${'ab'.repeat(32)}`, amount: '0.0008' },
      }),
      { nulls: [...nulls, 'settlement_transaction'] },
    ),
    accepts('nothing known', 'What is not known is null.', nothing),
    accepts('issuer not known', 'Integrity without trust: the verifier knows nobody.', good, {
      trust: 'empty',
      nulls: [...nulls.slice(0, 2), 'issuer', 'key_window', 'anchor'],
    }),
    accepts('unsigned members', 'anchor_ref, tier and anchor are covered by no signature.', unsigned),
    accepts(
      'unknown signed member',
      'The format only adds members; they are signed.',
      await added(good, 'x_note'),
    ),
    accepts(
      'milliseconds',
      'issued_at may have a fraction of 1 to 9 digits.',
      await minted({}, { issuedAt: ISSUED_SECONDS * 1000 + 123 }),
    ),
    accepts(
      'without issuer_did',
      'The issuer is found by its key.',
      await signEnvelope(withoutMember(good, 'issuer_did'), signers.service),
    ),
    accepts(
      'text beyond ASCII',
      'Lengths are of UTF-8, sorting is of UTF-16.',
      await added(good, '\u{1F9FE}é'),
    ),
  ];
}

const added = (document: JsonObject, name: string): Promise<JsonObject> =>
  signEnvelope({ ...document, [name]: 'signed like the rest' }, signers.service);

function changedMembers(): Change[] {
  const { stranger, agent } = signers;
  return [
    ['receipt_id', `r_env_${ISSUED_SECONDS}_0123456789ac`],
    ['issued_at', '2026-01-15T11:00:01Z'],
    ['issuer_did', 'did:svc:nobody'],
    ['issuer_did', ACME_DID, ['signature', 'issuer']],
    ['issuer_pubkey', toBase64url(stranger.publicKey), NO_KEY],
    ['issuer_verified', false],
    ['key_id', stranger.keyId, NO_KEY],
    ['request.hash', otherHash],
    ['request.origin', stranger.keyId],
    ['request.origin', null],
    ['request.purpose', 'another purpose'],
    ['request.policy_hash', otherHash],
    ['operator.entity', agent.keyId],
    ['operator.region', 'us-east-1'],
    ['operator.training_region', 'us-east-1'],
    ['hardware.class', 'gpu'],
    ['hardware.attestation', 'none'],
    ['response.hash', otherHash],
    ['response.sealed', true],
    ['settlement.chain', 'base'],
    ['settlement.asset', 'USDC'],
    ['settlement.tx', '0x00'],
    ['unknown_member', 'added after signing'],
  ];
}

async function forgedCases(good: JsonObject): Promise<ReceiptCase[]> {
  const { service, stranger, log, acme } = signers;
  const svc = textAt(good, 'signatures.svc');
  const another = await minted({}, { receiptId: `r_env_${ISSUED_SECONDS}_ffffffffffff` });
  const withSvc = (signature: JsonValue): JsonObject => withMember(good, 'signatures.svc', signature);
  const smallOrder = { ...good, key_id: smallOrderKey.keyId, issuer_pubkey: smallOrderKey.publicKey };
  const mixed = { ...good, issuer_pubkey: toBase64url(stranger.publicKey) };
  const failing = ['signature'];
  return [
    refuses(
      're-signed by a stranger',
      'Whole in itself, but the issuer that it names does not hold the key.',
      await minted({}, {}, stranger),
      ['issuer'],
    ),
    accepts(
      're-signed by a stranger, issuer not known',
      'Without knowledge of the issuer nothing contradicts it; it is not trusted.',
      await minted({}, {}, stranger),
      { trust: 'empty' },
    ),
    refuses(
      'signed by a registered issuer in our name',
      'The key is of another issuer.',
      await minted({}, {}, acme),
      ['issuer'],
    ),
    refuses(
      'key_id of another key',
      'Signed by a stranger who names our key.',
      await signEnvelope(good, stranger),
      ['signature'],
    ),
    refuses(
      'issuer_pubkey is not the key of key_id',
      'Signed, but contradicts itself.',
      await signEnvelope(mixed, service),
      [...NO_KEY],
    ),
    refuses('signed by the log key', 'A key signs for one purpose only.', await minted({}, {}, log), [
      'issuer',
    ]),
    refuses(
      'signature of another receipt',
      'A good signature of the right key over other contents.',
      withMember(good, 'signatures', another.signatures ?? null),
      failing,
    ),
    refuses(
      'small-order key',
      'The equation holds for every message under this key; the key is refused.',
      withMember(smallOrder, 'signatures.svc', universalSignature),
      NO_KEY,
    ),
    refuses('S + L', 'S must be below the group order.', withSvc(withLargeS(svc)), failing),
    refuses('small-order R', 'R must not be of small order.', withSvc(withSmallOrderR(svc)), failing),
    refuses(
      'R out of range',
      'R must be canonical: y below 2^255-19.',
      withSvc(withNonCanonicalR(svc)),
      failing,
    ),
    refuses('zero signature', '64 zero bytes.', withSvc('A'.repeat(86)), failing),
  ];
}

async function malformedCases(good: JsonObject): Promise<ReceiptCase[]> {
  const svc = textAt(good, 'signatures.svc');
  const list: Change[] = [
    ['signatures.svc', withSpareBits(svc)],
    ['signatures.svc', `${svc}==`],
    ['signatures.svc', svc.slice(1)],
    ['signatures.svc', null],
    ['signatures.requester', ''],
    ['signatures.witness', svc],
    ['issuer_pubkey', withSpareBits(textAt(good, 'issuer_pubkey'))],
    ['issuer_verified', 'true'],
    ['receipt_profile', 'pq'],
    ['receipt_schema_version', 'r2.0.0'],
    ['receipt_id', 'r_nano_1768474800_0123456789ab'],
    ['receipt_id', `r_env_${ISSUED_SECONDS}_0123456789AB`],
    ['request.hash', '0'.repeat(64)],
    ['request.hash', `sha256:${'A'.repeat(64)}`],
    ['request.origin', 'agent-7'],
    ['request', null],
    ['response.sealed', 0],
    ['issued_at', '2026-01-15T11:00:00+00:00'],
    ['issued_at', '2026-01-15 11:00:00Z'],
    ['issued_at', '2026-02-29T11:00:00Z'],
    ['issued_at', '2026-01-15T11:00:60Z'],
    ['issued_at', '2026-01-15T11:00:00.Z'],
    ['issued_at', '2026-01-15T11:00:00.0000000000Z'],
    ['issued_at', ISSUED_SECONDS],
    ['issuer_did', null],
    ['key_id', 'did:example:key'],
  ];
  const changed = list.map(([path, value]) =>
    refuses(
      `${path} is ${JSON.stringify(value)}`,
      'The form is wrong.',
      withMember(good, path, value),
      ['format'],
      NOT_REACHED,
    ),
  );
  const missing = [
    'key_id',
    'issuer_pubkey',
    'request.policy_hash',
    'signatures.operator',
    'settlement',
    'issued_at',
  ];
  return [
    ...changed,
    ...missing.map((path) =>
      refuses(`${path} missing`, 'Absent is not null.', withoutMember(good, path), ['format'], NOT_REACHED),
    ),
  ];
}

/** Cases at the limit of 3,072 bytes of JCS, counted without the unsigned members. */
async function sizeCases(): Promise<ReceiptCase[]> {
  const sized = async (bytes: number): Promise<JsonObject> => {
    const short = await minted();
    const pad = bytes - JSON.stringify(short).length - ',"x_pad":""'.length;
    return signEnvelope({ ...short, x_pad: 'p'.repeat(pad) }, signers.service);
  };
  const largest = await sized(3072);
  return [
    accepts('3,072 bytes', 'The largest envelope.', largest),
    accepts('3,072 bytes and unsigned members', 'Unsigned members do not count.', {
      ...largest,
      tier: 'pro',
    }),
    refuses('3,073 bytes', 'One byte over the limit.', await sized(3073), ['size']),
  ];
}
