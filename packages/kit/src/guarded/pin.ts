import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { GuardedFetchError } from './failure.ts';
import type { GuardPolicy } from './policy.ts';

/** All addresses of a name, in the order to try them. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** RFC 6761, section 6.3. */
const LOCALHOST = /(?:^|\.)localhost\.?$/;

/**
 * Asks the name servers directly. The system's resolver would block one of few threads for as long as a slow name
 * server takes, and would read this machine's hosts file and search domains.
 */
export const resolveByDns: Resolve = async (hostname) => {
  if (LOCALHOST.test(hostname)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
};

/** Ports that callers may name in an https URL. */
const PORTS: ReadonlySet<string> = new Set(['', '443', '80']);

/**
 * The addresses to which the connection for this URL is pinned. All addresses in one answer of the resolver are
 * checked, so that rebinding the name between check and use has no effect.
 * @throws GuardedFetchError url, address, dns
 */
export async function pinnedAddresses(
  url: URL,
  policy: GuardPolicy,
  resolve: Resolve,
): Promise<readonly string[]> {
  const refuse = (fault: 'url' | 'address' | 'dns', message: string): GuardedFetchError =>
    new GuardedFetchError(fault, message, { url: url.href });
  if (!/^https?:$/.test(url.protocol)) throw refuse('url', 'Only https:// URLs are called.');
  if (url.username !== '' || url.password !== '') throw refuse('url', 'The URL carries credentials.');
  const permitted = url.protocol === 'https:' && PORTS.has(url.port) ? policy.secure : policy.plain;
  if (permitted === null) throw refuse('url', 'Only https:// URLs on port 443 or 80 are called.');
  const hostname = bareHostname(url);
  const addresses = isIP(hostname) === 0 ? await resolved(hostname, resolve) : [hostname];
  if (addresses === null || addresses.length === 0) throw refuse('dns', 'The host name has no address.');
  if (!addresses.every(permitted))
    throw refuse('address', 'The host has an address that this service may not call.');
  return addresses;
}

async function resolved(hostname: string, resolve: Resolve): Promise<readonly string[] | null> {
  try {
    return await resolve(hostname);
  } catch {
    return null;
  }
}

/** The host without the brackets of IPv6. */
export function bareHostname({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** A look-up function that returns these addresses for every name. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = all;
    if (options.all === true || first === undefined) callback(null, all);
    else callback(null, first.address, first.family);
  };
}
