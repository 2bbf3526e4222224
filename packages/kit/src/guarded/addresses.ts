import { BlockList, isIP } from 'node:net';

/** The class of an IP address. Callers may make this service connect to `public` addresses only. */
export type AddressClass =
  | 'public'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link_local'
  | 'multicast'
  | 'metadata'
  | 'translated'
  | 'reserved'
  | 'invalid';

/** IANA's special-purpose registries (RFC 6890). The first match counts; what no row covers is public. */
const IPV4: readonly (readonly [AddressClass, ...string[]])[] = [
  ['loopback', '127.0.0.0/8'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ['shared', '100.64.0.0/10'],
  ['link_local', '169.254.0.0/16'],
  ['multicast', '224.0.0.0/4'],
  // A public address that is the metadata service inside one large cloud.
  ['metadata', '168.63.129.16/32'],
  ['translated', '192.88.99.0/24'],
  [
    'reserved',
    '0.0.0.0/8',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
  ],
];

/**
 * Of IPv6 only global unicast is public (RFC 4291, section 2.5.4), less the ranges carved out of it. Forms that contain
 * an IPv4 address are all refused: mapped, compatible, NAT64 (RFC 6052, RFC 8215), 6to4 and Teredo.
 */
const IPV6: readonly (readonly [AddressClass, ...string[]])[] = [
  ['loopback', '::1/128'],
  ['translated', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16', '::/96'],
  ['private', 'fc00::/7'],
  ['link_local', 'fe80::/10'],
  ['multicast', 'ff00::/8'],
  ['reserved', '2001::/23', '2001:db8::/32', '3fff::/20'],
  ['public', '2000::/3'],
  ['reserved', '::/0'],
];

const lists = {
  ipv4: IPV4.map((row) => listOf('ipv4', row)),
  ipv6: IPV6.map((row) => listOf('ipv6', row)),
};

function listOf(family: 'ipv4' | 'ipv6', [kind, ...ranges]: readonly [AddressClass, ...string[]]) {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = '', bits] = range.split('/');
    list.addSubnet(net, Number(bits), family);
  }
  return { kind, list };
}

/** The class of an address in text form, without brackets. A zone (`fe80::1%eth0`) makes it invalid. */
export function addressClass(address: string): AddressClass {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) return 'invalid';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return lists[family].find(({ list }) => list.check(address, family))?.kind ?? 'public';
}
