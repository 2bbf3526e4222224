import {
  followStatus,
  isObject,
  type JsonObject,
  readStatus,
  type StatusReport,
  type StatusStanding,
  TallyError,
  type Verification,
} from '@tallystick/core';
import { evaluate } from '../evaluate.ts';
import { serviceAt } from '../service.ts';
import { type TrustSources, trustSources } from '../trust-sources.ts';
import { savedTrust } from '../trust-store.ts';
import { readLastSeen, saveLastSeen, statusFile } from './last-seen.ts';

export interface FetchStatusOptions {
  readonly url: string;
  readonly verify?: boolean;
  readonly state?: string;
  readonly trust?: string;
  readonly root?: string;
}

/** Standing of a document: core's standing, or `invalid`, or of another issuer than before. */
export type Standing = StatusStanding | 'invalid' | 'other_issuer';

export interface Verified {
  readonly verdict: Verification;
  readonly standing: Standing;
  readonly refused: TrustSources['refused'];
}

/** A service's status at one request. */
export interface StatusReading {
  readonly report: StatusReport;
  /** The result of verifying it; null if that was not asked for. */
  readonly verified: Verified | null;
}

/**
 * Fetches a service's status. With `verify` it is judged, and it is remembered if it is valid, trusted, and continues
 * the documents seen before: without a trusted key nobody can spoil what is remembered.
 * @throws unavailable if the answer is not a status; UsageError
 */
export async function fetchStatus(options: FetchStatusOptions): Promise<StatusReading> {
  const { url, verify } = options;
  // Asks only once: a retry would hide that the service did not answer at first.
  const { json: body } = await serviceAt(url, { retries: 0 }).get('/status');
  if (!isObject(body) || body.type !== 'svc-status-v1')
    throw new TallyError('unavailable', `${url} answered with something that is not a status document.`);
  if (verify !== true) return { report: readStatus(body), verified: null };
  const verified = await verifyStatus(body, options);
  return { report: readStatus(body), verified };
}

async function verifyStatus(document: JsonObject, options: FetchStatusOptions): Promise<Verified> {
  const { url, root } = options;
  const now = Date.now();
  const state = options.state ?? statusFile(url);
  const before = readLastSeen(state, url);
  const chosen = options.trust ?? (savedTrust(url) === null ? undefined : url);
  const { sources, refused } = await trustSources(chosen, { now, root });
  const { verdict } = await evaluate(document, sources, { now });
  const report = verdict.valid ? readStatus(document) : null;
  if (report === null) return { verdict, refused, standing: 'invalid' };
  const issuerDid = report.issuer_did;
  if (before !== null && before.issuerDid !== issuerDid)
    return { verdict, refused, standing: 'other_issuer' };
  const { standing, seen } = followStatus(report, before, now);
  if (verdict.issuer.trusted) saveLastSeen(state, { ...seen, url, issuerDid });
  return { verdict, refused, standing };
}
