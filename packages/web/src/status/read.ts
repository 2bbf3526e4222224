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
  verifyParsed,
} from '@tallystick/core';
import { attempt } from '../attempt.ts';
import { fetchBytes, reasonOf } from '../fetch-answer.ts';
import { statusProse as prose } from '../prose.ts';
import type { TrustInUse } from '../trust.ts';
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
}

/** Fetches the status from the service that served this page, verifies it, and remembers it if it is trusted. Never throws. */
export async function readNow(trust: TrustInUse, now: number): Promise<Reading> {
  const before = recall();
  const none = (standing: 'invalid' | 'unknown', detail: string): Reading => ({
    standing,
    detail,
    before,
    report: null,
  });
  const answer = await fetchBytes('/status', { headers: { accept: 'application/json' } });
  if (!(answer instanceof Uint8Array)) return none('unknown', reasonOf(answer, prose.text));
  const document = attempt(() => parseJson(answer));
  if (document instanceof TallyError) return none('invalid', document.message);
  return evaluate(document, { trust, now, before }, none);
}

async function evaluate(
  document: JsonValue,
  { trust, now, before }: { trust: TrustInUse; now: number; before: SeenStatus | null },
  none: (standing: 'invalid', detail: string) => Reading,
): Promise<Reading> {
  const { family, valid, checks, issuer } = await verifyParsed(document, { now, trust: trust.issuers });
  if (!isObject(document) || family !== 'status') return none('invalid', prose.text.noStatus);
  if (!valid) return none('invalid', checks.find(({ ok }) => ok === false)?.detail ?? '');
  const report = attempt(() => readStatus(document));
  if (report instanceof TallyError) return none('invalid', report.message);
  const { standing, seen } = followStatus(report, before, now);
  // Only a trusted status is remembered, so nobody else can spoil what is remembered.
  if (issuer.trusted) remember(seen);
  const believed = standing === 'current' && !issuer.trusted ? 'untrusted' : standing;
  return { standing: believed, report, detail: '', before };
}
