import type { Verification } from '@tallystick/core';
import { DEFAULT_URL, serviceUrl } from './service.ts';
import type { TrustSource, TrustSources } from './trust-sources.ts';

/** DID that all services in development once had; the pattern below matches one that follows from a root. */
const SHARED_NAME = 'did:svc:local';
const NAME_OF_ROOT = /^did:svc:local-[0-9a-f]{8}$/;
const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/]|$)/;

/** Advice about a receipt that is intact, but whose issuer is not trusted; null if nothing is to be done. */
export function trustAdvice({ did, status }: Verification['issuer'], trust: TrustSources): string | null {
  const { sources, refused } = trust;
  if (sources.length === 0) {
    return refused.length > 0
      ? null
      : 'No trust is saved. Fetch it once: tally trust fetch <url of the service>';
  }
  if (status !== 'contradicted' && status !== 'unknown') return null;
  // A DID that follows from a root stays with that root, so other keys under it mean a rotation.
  const anew = did === SHARED_NAME || (status === 'unknown' && (did === null || NAME_OF_ROOT.test(did)));
  const saved = anew ? developmentSource(sources) : undefined;
  if (saved !== undefined) return developmentAdvice(did, status, saved);
  const names = sources.map(({ from, bundle }) => `${from} (${bundle.issued_at})`).join(', ');
  return status === 'contradicted'
    ? `Judged by ${names}. If the issuer has changed its keys since, fetch the bundle again: tally trust fetch <url>`
    : `Judged by ${names}. To trust another service: tally trust fetch <url>`;
}

/** The saved bundle of a service on this machine: the one that commands use by default, else the first. */
function developmentSource(sources: readonly TrustSource[]): TrustSource | undefined {
  const local = sources.filter(({ from }) => LOOPBACK.test(from));
  const configured = serviceUrl(process.env.TALLY_URL || DEFAULT_URL);
  return local.find(({ from }) => from === configured) ?? local[0];
}

/** Advice for development: a server that is set up anew has a new root, which its saved bundle does not know. */
function developmentAdvice(
  did: string | null,
  status: 'contradicted' | 'unknown',
  { from, root }: TrustSource,
): string {
  const what =
    status === 'contradicted'
      ? `The saved bundle of ${from} has the root ${root}, under which ${did ?? 'the issuer'} has other keys.`
      : `The saved bundle of ${from} has the root ${root}, and does not list ${did ?? 'the key'}.`;
  return (
    `${what} If that server was set up anew since, replace the bundle: tally trust fetch --replace ${from}\n` +
    'If the receipt comes from another server: tally trust fetch <its url>'
  );
}
