import { isObject, type JsonObject, type TrustBundle, trustOf, verify } from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import type { Documents } from '../documents.ts';
import { type Answer, type Inspection, isDocument } from '../inspection.ts';
import type { SurfacePath } from '../surface.ts';

/** The body of the free mint. */
const FREE = { input: 'Is this surface ready?', purpose: 'readiness-check' };

/**
 * Checks whether the origin's receipts verify, offline and by its own endpoint.
 * @param bundle the origin's own trust bundle; `trusted` rests only on what it says about itself
 */
export async function checkReceipts(
  inspection: Inspection,
  { places: { receipt_sample, receipt_free, receipt_verify }, described, listed }: Documents,
  bundle: TrustBundle | null,
): Promise<boolean> {
  const { found } = inspection;
  const place = receipt_sample ?? receipt_free;
  if (place === null) {
    if (!described || !listed) return false;
    found(
      'receipt_not_offered',
      'Neither the descriptor nor the OpenAPI document names a sample or a free mint.',
    );
    return true;
  }
  const answer = await inspection.ask(place, place.method === 'POST' ? { body: FREE } : {});
  if (answer === null) return false;
  if (!isDocument(answer) || !isObject(answer.json)) {
    found('receipt_unavailable', `It answered ${answer.status} without a JSON object.`, answer);
    return true;
  }
  const genuine = await assess(inspection, answer, answer.json, bundle);
  if (genuine && receipt_verify !== null) await requestAnswer(inspection, receipt_verify, answer.json);
  return true;
}

async function assess(
  { now, found, well }: Inspection,
  answer: Answer,
  receipt: JsonObject,
  bundle: TrustBundle | null,
): Promise<boolean> {
  const trust = bundle === null ? undefined : trustOf(bundle.issuers, [bundle]);
  const { valid, family, issuer, checks } = await verify(receipt, { now, trust, engine: nodeEngine });
  if (family === null) {
    found('receipt_unavailable', 'The answer is not a receipt of a known family.', answer);
    return false;
  }
  if (!valid) {
    const failed = checks.filter(({ ok }) => ok === false).map(({ name, detail }) => `${name}: ${detail}`);
    found('receipt_invalid', failed.join(' '), answer);
    return false;
  }
  if (bundle !== null && !issuer.trusted) {
    found('receipt_untrusted', `Its issuer ${issuer.did ?? ''} is ${issuer.status} there.`, answer);
    return true;
  }
  const by =
    bundle === null ? 'no trust bundle to check its issuer with' : 'its issuer is in the trust bundle';
  well('receipts', `A receipt of the family ${family} verifies offline; ${by}.`);
  return true;
}

/** A member that no receipt has: it keeps the form valid, and breaks every signature. */
const CHANGE = { x_readiness_check: 'changed' };

async function requestAnswer(inspection: Inspection, place: SurfacePath, receipt: JsonObject): Promise<void> {
  const { found, well } = inspection;
  const genuine = await inspection.ask(place, { body: receipt });
  if (genuine === null) return;
  if (!saysValid(genuine)) {
    found('verify_refuses_genuine', `It answered ${genuine.status} without valid: true.`, genuine);
    return;
  }
  const changed = await inspection.ask(place, { body: { ...receipt, ...CHANGE } });
  if (changed === null) return;
  if (saysValid(changed)) found('verify_accepts_tampered', 'A member was added after signing.', changed);
  else well('receipts', 'Its verifier tells the receipt from a changed copy.');
}

function saysValid(answer: Answer): boolean {
  return isDocument(answer) && isObject(answer.json) && answer.json['valid'] === true;
}
