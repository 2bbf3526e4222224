import { formatTimestamp } from '@tallystick/core';
import type { Inspection } from '../inspection.ts';

const DAY_MS = 86_400_000;
const RENEW_DAYS = 14;
const HALF_A_YEAR_SECONDS = 15_768_000;
const DATE_FAULTS: ReadonlySet<string> = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

/** Checks TLS as the first answer showed it, and whether browsers are told to insist on it (RFC 6797). */
export async function checkTransport(inspection: Inspection): Promise<boolean> {
  const { answers, now, found, well } = inspection;
  const [first] = answers;
  if (first === undefined) return false;
  const { tls, headers } = first;
  if (tls === null) {
    well('transport', 'Plain HTTP on this machine: TLS was not checked.');
    return false;
  }
  const until = tls.validUntil === null ? '' : ` It ends ${formatTimestamp(tls.validUntil)}.`;
  const outOfDate =
    (tls.validUntil !== null && tls.validUntil <= now) || (tls.validFrom !== null && tls.validFrom > now);
  if (outOfDate || DATE_FAULTS.has(tls.fault ?? ''))
    found('tls_certificate_expired', `The certificate is not valid at this time.${until}`, first);
  else if (tls.fault !== null) found('tls_certificate_invalid', `Checking it failed: ${tls.fault}.`, first);
  else if (tls.validUntil !== null && tls.validUntil - now < RENEW_DAYS * DAY_MS)
    found('tls_certificate_expiring', `Fewer than ${RENEW_DAYS} days are left.${until}`, first);
  else well('transport', `${tls.protocol}; the certificate is valid for this host.${until}`);

  const policy = headers.get('strict-transport-security');
  const age = /(?:^|;)\s*max-age\s*=\s*"?(\d{1,10})/i.exec(policy ?? '')?.[1];
  if (Number(age ?? 0) >= HALF_A_YEAR_SECONDS) well('transport', `HSTS for ${age} s.`);
  else
    found(
      'hsts_missing',
      policy === undefined ? 'The header is missing.' : `Its max-age is ${age ?? 'missing'}.`,
      first,
    );
  return true;
}
