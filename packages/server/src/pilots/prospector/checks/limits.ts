import { GuardedFetchError } from '@tallystick/kit';
import type { Documents } from '../documents.ts';
import type { Inspection } from '../inspection.ts';

/** Exceeds a common limit of 1 MiB. The JSON never ends, so that no server can act on it. */
const LARGE_BODY_BYTES = 1_114_112;

/** Checks whether limits are stated, and a body beyond them is refused. */
export async function checkLimits(inspection: Inspection, { places }: Documents): Promise<boolean> {
  const { answers, found, well } = inspection;
  const place = [places.receipt_free, places.receipt_verify, places.mcp].find(
    (one) => one?.method === 'POST',
  );
  if (place === undefined || place === null || answers.length === 0) return false;
  const body = `{"input":"${'a'.repeat(LARGE_BODY_BYTES)}`;
  const large = await inspection.attempt(place, { body });
  if (large === null) return false;
  if (!(large instanceof GuardedFetchError)) {
    const text = `A body of 1.1 MB is answered with ${large.status}.`;
    if (large.status >= 500) found('body_limit_fails', text, large);
    else well('limits', text);
  } else if (large.fault === 'cut') {
    // Closing the connection on a body that is too large is allowed (RFC 9110, section 15.5.14).
    well('limits', 'A body of 1.1 MB is cut off.');
  } else if (large.fault === 'slow' || large.fault === 'timeout') {
    found('body_limit_fails', `A body of 1.1 MB gets no answer: ${large.message}`);
  } else return false;
  if (places.receipt_free !== null) judgeStated(inspection);
  return true;
}

/** Free mints are the requests that a service is most likely to limit. */
function judgeStated({ answers, found, well }: Inspection): void {
  const stated = answers.find(({ headers }) => [...headers.keys()].some((name) => RATE_LIMIT.test(name)));
  if (stated !== undefined) return well('limits', `${stated.evidence.url} states its rate limit.`);
  const last = answers.findLast(({ evidence }) => evidence.method === 'POST');
  found('rate_limit_unstated', 'None of the answers had the header.', ...(last === undefined ? [] : [last]));
}

/** The draft of the IETF, its predecessors, and the usual custom ones. */
const RATE_LIMIT = /^(?:x-)?rate-?limit/;
