import { isObject, type JsonValue } from '@tallystick/core';
import { challengeFaults, readChallenge } from '../challenge.ts';
import type { Documents } from '../documents.ts';
import { type Inspection, isDocument } from '../inspection.ts';
import { parsePlace, type SurfacePath } from '../surface.ts';

const DISCOVERY: SurfacePath = { method: 'GET', path: '/.well-known/x402' };

/** Checks whether a call that must be paid says how to pay. It never pays. */
export async function checkPayment(inspection: Inspection, documents: Documents): Promise<boolean> {
  const { found, well, origin } = inspection;
  const place = documents.places.paid ?? (await discovered(inspection));
  if (place === 'unanswered') return false;
  if (place === null) {
    if (!documents.described) return false;
    found('payment_not_offered', 'Neither the descriptor nor /.well-known/x402 names a paid endpoint.');
    return true;
  }
  const body = place.method === 'POST' ? { body: exampleFor(place, documents) } : {};
  const answer = await inspection.ask(place, body);
  if (answer === null) return false;
  if (answer.status !== 402) {
    found('payment_not_challenged', `It answered ${answer.status} to a call without payment.`, answer);
    return true;
  }
  const challenge = readChallenge(answer);
  if (challenge === null) {
    const where = answer.headers.has('payment-required') ? 'PAYMENT-REQUIRED' : 'the body';
    found('payment_challenge_unreadable', `${where} contains no payment requirements.`, answer);
    return true;
  }
  const faults = challengeFaults(challenge, origin);
  if (faults.length > 0) found('payment_challenge_invalid', `${faults.slice(0, 5).join('; ')}.`, answer);
  else well('payment', `x402 version ${challenge.version}; ways to pay: ${challenge.ways.length}.`);
  return true;
}

/** The first resource of this origin that the x402 discovery document lists. */
async function discovered(inspection: Inspection): Promise<SurfacePath | null | 'unanswered'> {
  const answer = await inspection.ask(DISCOVERY);
  if (answer === null) return 'unanswered';
  const resources = isDocument(answer) && isObject(answer.json) ? answer.json['resources'] : undefined;
  const places = Array.isArray(resources) ? resources.map((one) => placeIn(one, inspection.origin)) : [];
  return places.find((place) => place !== null) ?? null;
}

/** A resource is text (`POST https://…`), or an object with its `url` or `resource`, and perhaps its `method`. */
function placeIn(resource: JsonValue, origin: string): SurfacePath | null {
  const [verb, address] = isObject(resource)
    ? [resource['method'] ?? 'GET', resource['url'] ?? resource['resource']]
    : ['', resource];
  if (typeof verb !== 'string' || typeof address !== 'string') return null;
  const [, method = 'GET', text = ''] = /^(?:(GET|POST) )?(.*)$/.exec(`${verb} ${address}`.trim()) ?? [];
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.origin === origin ? parsePlace(`${method} ${url.pathname}${url.search}`) : null;
}

/** The body that the OpenAPI document gives as an example, so that the call fails only because it is not paid. */
function exampleFor(place: SurfacePath, { openapi }: Documents): JsonValue {
  const steps = ['paths', place.path, 'post', 'requestBody', 'content', 'application/json', 'example'];
  let here: JsonValue | undefined = openapi?.json;
  for (const step of steps) here = isObject(here) ? here[step] : undefined;
  return here ?? {};
}
