import { randomBytes } from 'node:crypto';
import {
  type Correction,
  correctionOf,
  ENVELOPE_PROFILE,
  type JsonValue,
  mintEnvelope,
  parseJson,
  receiptId,
  TallyError,
  utf8,
} from '@tallystick/core';
import type { DocumentStore, Received } from '@tallystick/kit';
import { callerAccount, tenantAccount } from '@tallystick/ledger';
import type { Draft, Issued } from './issue.ts';
import { type IssuingContext, issueTo } from './issue-to.ts';
import { expiryOf, type SigningContext } from './mint.ts';
import { type OperatorFacts, ownOperation } from './operator-facts.ts';
import type { ReceiptStore } from './receipt-store.ts';
import { keptReceipt } from './retention.ts';

type Store = IssuingContext['store'] & DocumentStore & Pick<ReceiptStore, 'ownerOf'>;
type Context = IssuingContext & SigningContext & { readonly store: Store };
type Credential = Parameters<typeof issueTo>[2]['credential'];

/** Somebody's wish to correct a receipt by another one. */
export interface CorrectionRequest {
  /** Id of the receipt that is superseded. */
  readonly corrects: string;
  /** Id of the receipt that supersedes it. */
  readonly correction: string;
  readonly reason: string | null;
  readonly credential: Exclude<Credential, { readonly kind: 'none' }>;
  readonly operator: OperatorFacts;
  /** The body of the request, which an `Idempotency-Key` stands for. */
  readonly body: JsonValue;
}

/** What a link says and when. All of the envelope follows from it, so that one that was lost in a crash is made again. */
export interface CorrectionLink {
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly call: Correction;
}

/** Names of the documents under which the link is found: from the first receipt, and from its correction. */
const FROM_FIRST = 'correction of ';
const FROM_SECOND = 'correction by ';

/**
 * Signs that one receipt corrects another, and anchors that. Both must be the caller's own. The same request again gives the
 * same envelope.
 * @throws receipt_not_found, receipt_purged; invalid_field as `correctionOf`; already_corrected; what `issueTo` throws
 */
export function correct(context: Context, received: Received, request: CorrectionRequest): Promise<Issued> {
  const { credential, body } = request;
  return issueTo(context, received, {
    claim: { route: '/v1/receipt/corrections', body },
    credential,
    anchor: true,
    priced: null,
    sign: () => signLink(context, request),
  });
}

async function signLink(context: Context, request: CorrectionRequest): Promise<Draft> {
  const { store, issuer } = context;
  const first = await ownReceipt(context, request, 'corrects');
  const second = await ownReceipt(context, request, 'correction');
  const call = correctionOf({ corrects: first.receipt, correction: second.receipt }, request.reason);
  const link = await takePlaces(context, call);
  const signed = await mintEnvelope(
    {
      ...ownOperation(issuer.did, request.operator),
      request: { hash: null, origin: null, purpose: 'correction', policy_hash: null },
      response: { hash: null, sealed: null },
      settlement: { chain: null, asset: null, tx: null },
      call: link.call,
    },
    { receiptId: link.id, issuedAt: link.at, issuerDid: issuer.did, issuerVerified: true },
    issuer.signer('receipt'),
  );
  const issuedAt = Math.floor(link.at / 1000);
  // As long as the receipts that it is about.
  const expiresAt = Math.max(expiryOf(ENVELOPE_PROFILE, issuedAt), first.expiresAt, second.expiresAt);
  return {
    id: link.id,
    profile: ENVELOPE_PROFILE,
    issuedAt,
    expiresAt,
    signed,
    async earlier() {
      const kept = await store.getReceipt(link.id);
      return kept.kind === 'found' ? kept.body : null;
    },
  };
}

/** A receipt that the caller may list. @throws receipt_not_found for somebody else's too; receipt_purged */
async function ownReceipt(
  { store, clock }: Context,
  { credential, ...ids }: CorrectionRequest,
  field: 'corrects' | 'correction',
): Promise<{ readonly receipt: JsonValue; readonly expiresAt: number }> {
  const id = ids[field];
  const isTenant = credential.kind === 'tenantKey';
  const account = isTenant ? tenantAccount(credential.tenant) : callerAccount(credential.owner);
  const of = await store.ownerOf(id);
  // A key that another account pays for has only what was made with it.
  const isOwn = isTenant || credential.owner === credential.id || of?.key === credential.id;
  if (of === null || of.owner !== account || !isOwn)
    throw new TallyError('receipt_not_found', 'This account has no receipt with that id.', { field });
  const found = await keptReceipt(store, id, clock());
  if (found.kind !== 'found')
    throw new TallyError('receipt_purged', 'The receipt’s retention period has ended.', { field });
  return { receipt: parseJson(utf8(found.body)), expiresAt: found.expiresAt };
}

/**
 * Takes the place of the correction of a receipt, once and for all. Returns the link that is there already if it says the same.
 * @throws already_corrected where a receipt has another correction, or is one of another, or the correction was corrected
 */
async function takePlaces({ store, clock }: Context, call: Correction): Promise<CorrectionLink> {
  const [first, second] = [call.corrects.receipt_id, call.correction.receipt_id];
  const { corrects, correctedBy } = await linksOf(store, second);
  if (correctedBy !== null) throw taken('correction', `${second} was itself corrected.`);
  if (corrects !== null && corrects.call.corrects.receipt_id !== first)
    throw taken('correction', `${second} already corrects ${corrects.call.corrects.receipt_id}.`);
  const at = clock();
  const random = randomBytes(6).toString('hex');
  const drafted: CorrectionLink = { id: receiptId('env', Math.floor(at / 1000), random), at, call };
  await store.putDocument(FROM_FIRST + first, 1, JSON.stringify(drafted));
  const link = await linkAt(store, FROM_FIRST + first);
  if (link === null || JSON.stringify(link.call) !== JSON.stringify(call))
    throw taken('corrects', `${first} already has a correction: ${link?.call.correction.receipt_id ?? ''}.`);
  await store.putDocument(FROM_SECOND + second, 1, JSON.stringify(link));
  return link;
}

const taken = (field: string, message: string): TallyError =>
  new TallyError('already_corrected', message, { field });

/** The links of a receipt: to what supersedes it, and to what it supersedes; null where there is none. */
export async function linksOf(
  store: Pick<DocumentStore, 'getDocument'>,
  id: string,
): Promise<{ readonly correctedBy: CorrectionLink | null; readonly corrects: CorrectionLink | null }> {
  return {
    correctedBy: await linkAt(store, FROM_FIRST + id),
    corrects: await linkAt(store, FROM_SECOND + id),
  };
}

async function linkAt(
  store: Pick<DocumentStore, 'getDocument'>,
  name: string,
): Promise<CorrectionLink | null> {
  const found = await store.getDocument(name);
  return found === null ? null : (JSON.parse(found.body) as CorrectionLink);
}
