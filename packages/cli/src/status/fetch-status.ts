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

/** What to think of a document: as core has it, or `invalid`, or of another issuer than before. */
export type Standing = StatusStanding | 'invalid' | 'other_issuer';

export interface Verified {
  readonly verdict: Verification;
  readonly standing: Standing;
  readonly refused: TrustSources['refused'];
}

/** One look at a service's status. */
export interface StatusReading {
  readonly report: StatusReport;
  /** Null where it was not asked for. */
  readonly verified: Verified | null;
}

/**
 * Asks a service for its status. With `verify` it is judged, and remembered where it is valid, trusted, and carries on
 * from what was seen: nobody without a trusted key can spoil what is remembered.
 * @throws unavailable where something else answers; UsageError
 */
export async function fetchStatus(options: FetchStatusOptions): Promise<StatusReading> {
  const { url, verify } = options;
  // Once: a service that has to be asked again is not to look like one that does not.
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
