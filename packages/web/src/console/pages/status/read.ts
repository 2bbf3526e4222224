import {
  followStatus,
  isObject,
  type JsonValue,
  parseJson,
  readStatus,
  type SeenStatus,
  type StatusReport,
  type StatusStanding,
  TallyError,
  utf8,
  verifyParsed,
} from '@tallystick/core';
import { attempt } from '../../../attempt.ts';
import type { TrustInUse } from '../../../trust.ts';
import { ApiProblem, apiText } from '../../api.ts';
import { trustHere } from '../../trust.ts';
import { recall, remember } from './last-seen.ts';

/** A status that was read, and the result of checking it. */
export interface Reading {
  readonly standing: StatusStanding | 'untrusted' | 'invalid' | 'unknown';
  /** The report; null unless its signature is valid. */
  readonly report: StatusReport | null;
  /** Why there is no report; empty where there is one. */
  readonly detail: string;
  /** The newest status that this browser had seen before. */
  readonly before: SeenStatus | null;
  /** Trust bundles that were not used. */
  readonly refusals: TrustInUse['refusals'];
  /** When it was read: Unix milliseconds. */
  readonly at: number;
}

/** Fetches the status of this service, verifies it, and remembers it if it is trusted. */
export async function readNow(signal: AbortSignal): Promise<Reading> {
  const at = Date.now();
  const before = recall();
  let refusals: TrustInUse['refusals'] = [];
  const none = (standing: 'invalid' | 'unknown', detail: string): Reading => {
    return { standing, detail, before, refusals, at, report: null };
  };
  try {
    const [trust, text] = await Promise.all([
      trustHere(signal),
      apiText('/status', { headers: { accept: 'application/json' }, as: null, signal }),
    ]);
    ({ refusals } = trust);
    const document = attempt(() => parseJson(utf8(text)));
    if (document instanceof TallyError) return none('invalid', document.message);
    return await evaluate(document, { trust, at, before }, none);
  } catch (error) {
    if (error instanceof ApiProblem) return none('unknown', error.message);
    throw error;
  }
}

async function evaluate(
  document: JsonValue,
  { trust, at, before }: { trust: TrustInUse; at: number; before: SeenStatus | null },
  none: (standing: 'invalid', detail: string) => Reading,
): Promise<Reading> {
  const { family, valid, checks, issuer } = await verifyParsed(document, { now: at, trust: trust.issuers });
  if (!isObject(document) || family !== 'status') return none('invalid', 'This is not a signed status.');
  if (!valid) return none('invalid', checks.find(({ ok }) => ok === false)?.detail ?? '');
  const report = attempt(() => readStatus(document));
  if (report instanceof TallyError) return none('invalid', report.message);
  const { standing, seen } = followStatus(report, before, at);
  // Only a trusted status is remembered, so nobody else can spoil what is remembered.
  if (issuer.trusted) remember(seen);
  const believed = standing === 'current' && !issuer.trusted ? 'untrusted' : standing;
  return { standing: believed, report, detail: '', before, refusals: trust.refusals, at };
}
