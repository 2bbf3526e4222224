import { BlockList, isIPv4 } from 'node:net';

/** What is not a public host: RFC 6890 and its registry, multicast, and what carries IPv4 inside. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** Of IPv6 only 2000::/3 is given to hosts. */
const PUBLIC_V6 = '2000::/3';
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const refusedV4 = listOf(NOT_PUBLIC_V4, 'ipv4');
const publicV6 = listOf([PUBLIC_V6], 'ipv6');
const refusedV6 = listOf(NOT_PUBLIC_V6, 'ipv6');

/** Whether an IP address is that of a host on the public internet, and not of one beside this service. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refusedV4.check(address, 'ipv4');
  return publicV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6');
}

function listOf(subnets: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
