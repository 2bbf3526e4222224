import { formatTimestamp, type JsonObject, type Signer, toBase64url } from '../../packages/core/src/index.ts';
import { leaves, signedBody } from './bill.ts';
import { casesOf, ISSUED_SECONDS, NO_KEY, type ReceiptCase } from './cases.ts';
import { minted } from './envelope-base.ts';
import { type KeyName, signers } from './keys.ts';
import { emitted } from './profile-base.ts';
import { signEnvelope, signMetering } from './sign.ts';
import { ACME_DID, ENDED_AT, NAMED_KEY_ID, VALID_FROM } from './stores.ts';

const { accepts, refuses } = casesOf('envelope');

const END = Date.parse(ENDED_AT);
const START = Date.parse(VALID_FROM);
const SECOND = 1000;

/** Cases of issuer, key and time: the checks issuer, key_window and issued_at. */
export async function issuerCases(): Promise<ReceiptCase[]> {
  return [
    ...(await retiredCases()),
    ...(await revokedCases()),
    ...(await compromisedCases()),
    ...(await otherWindowCases()),
    ...(await clockCases()),
    ...(await namedKeyCases()),
    ...(await claimCases()),
  ];
}

/** An envelope signed by the key at `issuedAt`, in Unix milliseconds. */
const by = (name: KeyName, issuedAt: number): Promise<JsonObject> => minted({}, { issuedAt }, signers[name]);

const BROKEN = ['key_window'];

async function retiredCases(): Promise<ReceiptCase[]> {
  const before = await by('retired', END - SECOND);
  const after = await by('retired', END);
  return [
    accepts('retired key, before its end', 'What it signed in its time stays good.', before),
    refuses('retired key, at its end', 'valid_until is exclusive.', after, BROKEN),
  ];
}

async function revokedCases(): Promise<ReceiptCase[]> {
  const before = await by('revoked', END - SECOND);
  const after = await by('revoked', END);
  return [
    accepts(
      'revoked (superseded) key, before',
      'Revoked for another reason than compromise: no anchor is needed.',
      before,
    ),
    refuses(
      'revoked (superseded) key, at the revocation',
      'From revoked.at on it signs nothing.',
      after,
      BROKEN,
    ),
  ];
}

async function compromisedCases(): Promise<ReceiptCase[]> {
  const before = await by('compromised', END - 60 * SECOND);
  const after = await by('compromised', END);
  const counter = ['signature_requester', 'signature_operator'];
  return [
    accepts(
      'compromised key, before, not anchored',
      'The thief may have dated it back: not trusted, though nothing contradicts it.',
      before,
      { trusted: false, nulls: [...counter, 'key_window', 'anchor'] },
    ),
    refuses('compromised key, at the revocation', 'From revoked.at on it signs nothing.', after, BROKEN),
  ];
}

async function otherWindowCases(): Promise<ReceiptCase[]> {
  const nano = casesOf('profile');
  const metering = casesOf('metering');
  const nanoAt = (issuedAt: number): Promise<JsonObject> =>
    emitted('nano', {}, { issuedAt }, signers.retired);
  const bill = signedBody({ billed: 1, leaves: leaves(1) });
  return [
    accepts('first second of a key', 'valid_from is inclusive.', await by('service', START)),
    refuses(
      'before a key’s time',
      'One second before valid_from.',
      await by('service', START - SECOND),
      BROKEN,
    ),
    refuses(
      'pending key',
      'A key signs nothing before it is active.',
      await by('pending', START + SECOND),
      BROKEN,
    ),
    refuses(
      'retired key without an end',
      'The record does not say since when: nothing counts.',
      await by('undated', START + SECOND),
      BROKEN,
    ),
    refuses(
      'revoked key without a revocation',
      'The record does not say since when: nothing counts.',
      await by('undated-revoked', START + SECOND),
      BROKEN,
    ),
    nano.accepts(
      'nano of a retired key, before its end',
      'The window is judged in every family.',
      await nanoAt(END - SECOND),
    ),
    nano.refuses('nano of a retired key, at its end', 'By ts.', await nanoAt(END), BROKEN),
    metering.refuses(
      'metering of a retired key, after its end',
      'By ts.',
      await signMetering(bill, ISSUED_SECONDS, signers.retired),
      BROKEN,
    ),
    ...(await earlyBills()),
  ];
}

/** Cases of `compiled_at`, which is a claim and not the time of signing, so the start of the key does not bound it. */
async function earlyBills(): Promise<ReceiptCase[]> {
  const metering = casesOf('metering');
  return [
    metering.accepts(
      'metering compiled before its key’s time',
      'compiled_at is a claim: the bill was signed later than compiled.',
      await earlyBill(signers.service),
    ),
    metering.refuses(
      'metering compiled before the time of a pending key',
      'A key signs nothing before it is active.',
      await earlyBill(signers.pending),
      BROKEN,
    ),
    metering.accepts(
      'metering compiled before the time of a compromised key, not anchored',
      'The thief may have compiled it.',
      await earlyBill(signers.compromised),
      { trusted: false, nulls: ['evidence', 'key_window', 'anchor'] },
    ),
  ];
}

/** A bill that states that it was compiled a day before any key of the vectors was valid. */
export async function earlyBill(signer: Signer): Promise<JsonObject> {
  const compiledAt = START - 86_400 * SECOND;
  const body = signedBody({
    billed: 1,
    leaves: leaves(1),
    windowStart: '2024-12-01T00:00:00Z',
    windowEnd: '2024-12-31T00:00:00Z',
    compiledAt: formatTimestamp(compiledAt),
  });
  return signMetering(body, compiledAt / SECOND, signer);
}

/** Cases of clocks: the verifier's may be 300 s behind the issuer's. */
async function clockCases(): Promise<ReceiptCase[]> {
  const good = await minted();
  return [
    accepts('issued 300 s ahead', 'Within the tolerance.', good, { now: '2026-01-15T10:55:00Z' }),
    refuses('issued 301 s ahead', 'Dated in the future.', good, ['issued_at'], {
      now: '2026-01-15T10:54:59Z',
    }),
  ];
}

/** Cases of key ids that do not contain their key, so that a record must hold them. */
async function namedKeyCases(): Promise<ReceiptCase[]> {
  const { named, service } = signers;
  const receipt = await minted({}, {}, { ...named, keyId: NAMED_KEY_ID });
  const byAnother = await signEnvelope(
    { ...receipt, issuer_pubkey: toBase64url(service.publicKey) },
    service,
  );
  return [
    accepts('did:svc key id', 'The verifier’s records hold the key.', receipt),
    refuses(
      'did:svc key id, not known',
      'The key can’t be told, though issuer_pubkey is there: the id is not bound to it.',
      receipt,
      NO_KEY,
      { trust: 'empty' },
    ),
    refuses('did:svc key id of another key', 'issuer_pubkey is not the key of that id.', byAnother, NO_KEY),
    refuses(
      'did:web key id, not known',
      'It is not fetched.',
      await minted({}, {}, { ...named, keyId: 'did:web:example.com' }),
      NO_KEY,
    ),
  ];
}

async function claimCases(): Promise<ReceiptCase[]> {
  const { acme, service } = signers;
  const acmeIssues = (issuerVerified: boolean): Promise<JsonObject> =>
    minted({}, { issuerDid: ACME_DID, issuerVerified }, acme);
  const unknown = await minted({}, { issuerDid: 'did:svc:nobody' });
  return [
    accepts('registered issuer', 'Valid, not trusted.', await acmeIssues(false), { trusted: false }),
    refuses(
      'registered issuer claims to be verified',
      'issuer_verified contradicts the record.',
      await acmeIssues(true),
      ['issuer'],
    ),
    accepts(
      'verified issuer that does not claim it',
      'The record counts, not the claim.',
      await minted({}, { issuerVerified: false }),
    ),
    accepts('our key under an unknown issuer', 'Nothing is known of that issuer: null, not false.', unknown, {
      trusted: false,
      nulls: ['signature_requester', 'signature_operator', 'issuer', 'key_window', 'anchor'],
    }),
    accepts(
      'issuer named by its did:key',
      'A key may be an issuer of its own.',
      await minted({}, { issuerDid: service.keyId, issuerVerified: false }),
      { trusted: false },
    ),
    refuses(
      'issuer_did is the did:key of another',
      'That key did not sign.',
      await minted({}, { issuerDid: acme.keyId }),
      ['issuer'],
    ),
  ];
}
