import { hash, randomBytes } from 'node:crypto';
import { missingKey } from '@tallystick/callers';
import {
  declaredSigner,
  ENVELOPE_PROFILE,
  readSessionReceipt,
  type SettlementReference,
  TallyError,
} from '@tallystick/core';
import type { KeyedMutex, Received } from '@tallystick/kit';
import type { Draft, Issued } from '../issue.ts';
import { type IssuingContext, issueTo, type ReceiptRequest } from '../issue-to.ts';
import { anchorOf } from '../key-effects.ts';
import { expiryOf } from '../mint.ts';
import { findPlace, isClosing, type Place, type SessionContext, type Step } from './find-place.ts';

interface Context extends IssuingContext {
  readonly store: IssuingContext['store'] & SessionContext['store'];
  readonly issuer: SessionContext['issuer'];
  readonly mutex: KeyedMutex;
}

/** A step, and who asks for it. */
export interface StepRequest
  extends Step,
    Pick<ReceiptRequest, 'claim'>,
    Pick<Required<ReceiptRequest>, 'credential'> {
  /** Agent whose balance may pay. */
  readonly agent: NonNullable<ReceiptRequest['priced']>['agent'];
}

/** Milliseconds for which a request waits for the others of its session. */
const WAIT_MS = 20_000;

/** The claim of a session has nothing to tell apart. */
const ANY_REQUEST = 'session';

/**
 * Signs the next receipt of a session, at the price of a standard receipt. The same step again resolves to the same receipt,
 * at no price.
 * @throws what `findPlace` and `issueTo` throw; unavailable where other requests of the session take too long
 */
export function issueStep(context: Context, received: Received, request: StepRequest): Promise<Issued> {
  const { credential, entry, agent, claim } = request;
  if (request.anchor && credential.kind === 'none') throw missingKey('anchor');
  return alone(context, request, async () => {
    const place = await findPlace(context, request);
    if (place.kind === 'taken') return before(context, place.receipt);
    const opens = place.seq === 0;
    const closesAnchored = place.session.anchor === 1 && isClosing(entry);
    return issueTo(context, received, {
      claim,
      credential,
      anchor: closesAnchored || (request.anchor && !opens),
      priced: { profile: ENVELOPE_PROFILE, agent },
      sign: (settlement) => signStep(context, request, { place, settlement }),
    });
  });
}

/**
 * Runs the requests of a session one after another. One that is paid for by itself has been paid before its receipt is stored,
 * so no other process may take its place meanwhile.
 */
async function alone<T>(
  { claims, mutex, payments, clock }: Context,
  { entry, credential }: StepRequest,
  work: () => Promise<T>,
): Promise<T> {
  const name = `session ${entry.call.session.id}`;
  if (payments === null || credential.kind !== 'none') return mutex(name, work);
  const record = {
    scope: hash('sha256', name),
    requestHash: ANY_REQUEST,
    expiresAt: Math.floor(clock() / 1000),
  };
  const wait = AbortSignal.timeout(WAIT_MS);
  const claimed = await claims.take(record, wait).catch((error: unknown) => {
    if (!wait.aborted) throw error;
    throw new TallyError('unavailable', 'Another request of this session is under way. Try again.');
  });
  if (claimed.kind !== 'mine') throw new Error('The claim of a session has an answer.');
  try {
    return await work();
  } finally {
    claimed.release();
  }
}

async function before({ log }: Pick<Context, 'log'>, receipt: string): Promise<Issued> {
  const anchor = await anchorOf(log, receipt);
  const { receipt_id: id } = readSessionReceipt(receipt);
  return { id, receipt, replayed: true, anchorRef: anchor?.anchor_ref ?? null };
}

async function signStep(
  context: Pick<Context, 'issuer' | 'clock' | 'store'>,
  step: StepRequest,
  {
    place,
    settlement,
  }: {
    readonly place: Place & { readonly kind: 'free' };
    readonly settlement: SettlementReference | null;
  },
): Promise<Draft> {
  const { issuer, clock } = context;
  const now = clock();
  const issuedAt = Math.floor(now / 1000);
  const sign = declaredSigner(
    {
      signer: issuer.signer('receipt'),
      now: () => now,
      random: (length) => randomBytes(length),
      agentDid: step.agent.did ?? undefined,
      ...(settlement !== null && { settlement: settlementOf(settlement) }),
    },
    issuer.did,
  );
  const signed = await sign(step.entry);
  return {
    id: readSessionReceipt(signed).receipt_id,
    profile: ENVELOPE_PROFILE,
    issuedAt,
    expiresAt: expiryOf(ENVELOPE_PROFILE, issuedAt),
    place: { session: place.session, seq: place.seq },
    signed,
    async earlier() {
      const now = await findPlace(context, step);
      return now.kind === 'taken' ? now.receipt : null;
    },
  };
}

/** The member `settlement` of an envelope that a payment by x402 paid for. */
function settlementOf({ chain_id, asset, tx, amount }: SettlementReference) {
  return { chain: `eip155:${chain_id}`, asset, tx, ...(amount !== undefined && { amount }) };
}
