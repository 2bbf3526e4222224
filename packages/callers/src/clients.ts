import { hash } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { Incoming } from '@tallystick/kit';

/** An address with the number of its leading bits that count. */
export interface Subnet {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Tells callers apart, for quotas and for idempotency. */
export interface ClientAddresses {
  /**
   * The address group that the request comes from: an IPv4 address, or an IPv6 /64, which is what one
   * subscriber holds. `unknown` where there is no address: no socket, or a Unix socket that is not trusted.
   */
  group(incoming: Incoming): string;
  /**
   * Who is asking, as stable text without secrets: the credential's hash if there is one, else the address
   * group, and `X-Agent-DID`. A credential is not checked here, so never spare a caller a quota by it.
   */
  scope(incoming: Incoming): string;
}

/** What connects through a Unix socket, in the list of trusted proxies. */
export const UNIX_SOCKET = 'unix';

export type TrustedProxy = Subnet | typeof UNIX_SOCKET;

/** What a request without a remote address is from. */
const UNKNOWN = 'unknown';

/** @param trustedProxies whose `X-Forwarded-For` counts */
export function createClients(trustedProxies: readonly TrustedProxy[]): ClientAddresses {
  const trusted = new BlockList();
  const trustsUnixSocket = trustedProxies.includes(UNIX_SOCKET);
  for (const proxy of trustedProxies)
    if (proxy !== UNIX_SOCKET) trusted.addSubnet(proxy.address, proxy.prefix, proxy.family);

  const isTrusted = (address: string): boolean => {
    if (address === UNKNOWN) return trustsUnixSocket;
    const plain = unmapped(address);
    return trusted.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  };

  const group = (incoming: Incoming): string => {
    const socket = incoming.remoteAddress ?? UNKNOWN;
    const forwarded = trustedProxies.length === 0 ? undefined : incoming.header('x-forwarded-for');
    return addressGroup(forwarded === undefined ? socket : lastUntrusted(socket, forwarded, isTrusted));
  };

  const scope = (incoming: Incoming): string => {
    const credential = incoming.header('authorization');
    const who =
      credential === undefined ? `address:${group(incoming)}` : `credential:${hash('sha256', credential)}`;
    return `${who} agent:${incoming.header('x-agent-did') ?? ''}`;
  };

  return { group, scope };
}

/**
 * Each proxy appends the address it was called from, so only the tail that trusted proxies wrote is true:
 * the client is the rightmost address that is not one of theirs.
 */
function lastUntrusted(socket: string, forwarded: string, isTrusted: (address: string) => boolean): string {
  let client = socket;
  for (const hop of forwarded.split(',').reverse()) {
    if (!isTrusted(client)) return client;
    const address = withoutPort(hop.trim());
    if (isIP(address) === 0) return client;
    client = address;
  }
  return client;
}

function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

/** The address as itself for IPv4 (mapped or not), and as its /64 for IPv6. */
export function addressGroup(address: string): string {
  const plain = unmapped(address);
  if (isIP(plain) !== 6) return plain;
  return `${hextets(plain).slice(0, 4).join(':')}::/64`;
}

/** `::ffff:1.2.3.4` and `::ffff:102:304` as `1.2.3.4` (RFC 4291, section 2.5.5.2); anything else unchanged. */
function unmapped(address: string): string {
  const [bare = address] = address.split('%');
  if (isIP(bare) !== 6) return bare;
  const parts = hextets(bare);
  if (parts.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return bare;
  const bits = Number.parseInt(parts[6] ?? '0', 16) * 0x1_0000 + Number.parseInt(parts[7] ?? '0', 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.');
}

/** The eight groups of a valid IPv6 address, without leading zeros, as a URL's host spells them. */
function hextets(address: string): string[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
