import { TallyError } from '@tallystick/core';
import type { GuardedFetch } from '@tallystick/kit';
import { checkErrors } from './checks/errors.ts';
import { checkHeaders } from './checks/headers.ts';
import { checkKeys } from './checks/keys.ts';
import { checkLimits } from './checks/limits.ts';
import { checkMcp } from './checks/mcp.ts';
import { checkOpenApi } from './checks/openapi.ts';
import { checkPayment } from './checks/payment.ts';
import { checkReceipts } from './checks/receipts.ts';
import { checkTransport } from './checks/transport.ts';
import { checkWellKnown } from './checks/well-known.ts';
import { readDocuments } from './documents.ts';
import type { Area } from './findings.ts';
import { beginInspection } from './inspection.ts';
import { type Report, reportOf } from './report.ts';
import type { Target } from './surface.ts';

interface QualifyOptions {
  readonly fetch: GuardedFetch;
  /** Unix milliseconds. */
  readonly now: number;
  /** Aborts when the caller leaves; then nothing more is sent. */
  readonly signal: AbortSignal;
  /** Milliseconds for the whole check. What is not reached by then is reported as not checked. */
  readonly deadlineMs: number;
}

/**
 * Checks whether a service is ready for AI agents, by some twenty requests that anyone could send: it reads documents,
 * mints one receipt where that is free, and makes common mistakes. It pays nothing and sends no credential.
 * @throws invalid_field for an origin that may not be called from here
 */
export async function qualify(
  target: Target,
  { fetch, now, signal, deadlineMs }: QualifyOptions,
): Promise<Report> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), deadlineMs);
  const ends = AbortSignal.any([signal, late.signal]);
  const endsAt = performance.now() + deadlineMs;
  const inspection = beginInspection({ fetch, signal: ends, origin: target.origin, now, endsAt });
  const checked = new Set<Area>();
  const runCheck = async (area: Area, check: () => Promise<boolean>): Promise<void> => {
    if (!ends.aborted && (await check())) checked.add(area);
  };
  try {
    const documents = await readDocuments(inspection, target);
    refuseForbidden(inspection.findings, inspection.answers.length);
    await runCheck('transport', () => checkTransport(inspection));
    await runCheck('well_known', () => checkWellKnown(inspection, documents));
    await runCheck('openapi', () => checkOpenApi(inspection, documents));
    const { checked: keysChecked, bundle } = await checkKeys(inspection, documents);
    if (keysChecked) checked.add('keys');
    await runCheck('headers', () => checkHeaders(inspection, documents));
    await runCheck('receipts', () => checkReceipts(inspection, documents, bundle));
    await runCheck('mcp', () => checkMcp(inspection, documents));
    await runCheck('payment', () => checkPayment(inspection, documents));
    await runCheck('errors', () => checkErrors(inspection, documents));
    await runCheck('limits', () => checkLimits(inspection, documents));
    return reportOf(inspection, { checked, complete: !ends.aborted && !inspection.limited() });
  } finally {
    clearTimeout(timer);
  }
}

/** If the very first request was refused, the caller named an address that may not be called. */
function refuseForbidden(findings: readonly { readonly code: string }[], answers: number): void {
  if (answers > 0 || findings[0]?.code !== 'address_refused') return;
  throw new TallyError(
    'invalid_field',
    'origin: this service may not call it. It must be https on port 443, at public addresses only.',
    { field: 'origin' },
  );
}
