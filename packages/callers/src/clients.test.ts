import { describe, expect, it } from 'vitest';
import { received } from '../../kit/test/received.ts';
import { readConfig } from '../../server/src/config/config.ts';
import { addressGroup, type ClientAddresses, createClients, UNIX_SOCKET } from './clients.ts';

/** Asks one of the two functions about a request from this socket with these headers. */
async function ask(
  what: keyof ClientAddresses,
  proxies: string,
  socket: string,
  headers: Record<string, string>,
): Promise<string> {
  const clients = createClients(readConfig({ TALLY_TRUSTED_PROXIES: proxies }).trustedProxies);
  return clients[what](received(headers, { remoteAddress: socket }).incoming);
}

describe('addressGroup', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s -> %s', (address, group) => {
    expect(addressGroup(address)).toBe(group);
  });
});

describe('group', () => {
  it.each([
    ['no proxies: the header is a claim', '', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['from elsewhere: the header is a claim', '10.0.0.0/8', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['one proxy', '10.0.0.0/8', '10.1.1.1', '198.51.100.1', '198.51.100.1'],
    ['mapped proxy', '10.0.0.0/8', '::ffff:10.1.1.1', '198.51.100.1', '198.51.100.1'],
    ['a forged first hop', '10.0.0.0/8', '10.1.1.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['two proxies', '10.0.0.0/8', '10.1.1.1', '1.1.1.1, 198.51.100.1, 10.2.2.2', '198.51.100.1'],
    ['nothing but proxies', '10.0.0.0/8', '10.1.1.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
    ['rubbish', '10.0.0.0/8', '10.1.1.1', '198.51.100.1, <script>', '10.1.1.1'],
    ['with a port', '10.0.0.0/8', '10.1.1.1', '198.51.100.1:4711', '198.51.100.1'],
    ['IPv6 with a port', 'fd00::/8', 'fd00::1', '[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
  ])('%s', async (_, proxies, socket, forwarded, expected) => {
    expect(await ask('group', proxies, socket, { 'x-forwarded-for': forwarded })).toBe(expected);
  });

  it('is unknown where there is no socket', () => {
    expect(createClients([]).group(received().incoming)).toBe('unknown');
  });

  it.each([
    ['no trust: the header is a claim', [], '198.51.100.1', 'unknown'],
    ['trust in others only', [{ address: '10.0.0.0', prefix: 8, family: 'ipv4' }], '198.51.100.1', 'unknown'],
    ['trust: the last hop counts', [UNIX_SOCKET], '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    [
      'trust in the socket and in a proxy behind it',
      [UNIX_SOCKET, { address: '10.0.0.0', prefix: 8, family: 'ipv4' }],
      '1.1.1.1, 198.51.100.1, 10.2.2.2',
      '198.51.100.1',
    ],
    ['trust, and no address in the header', [UNIX_SOCKET], 'unknown', 'unknown'],
  ] as const)('through a Unix socket, %s', (_, proxies, forwarded, expected) => {
    const { incoming } = received({ 'x-forwarded-for': forwarded });
    expect(createClients(proxies).group(incoming)).toBe(expected);
  });
});

describe('scope', () => {
  const scope = (socket: string, headers: Record<string, string>): Promise<string> =>
    ask('scope', '', socket, headers);

  it('follows the credential wherever it comes from, and does not show it', async () => {
    const one = await scope('203.0.113.7', { authorization: 'Bearer k_pro_secret' });
    expect(await scope('203.0.113.8', { authorization: 'Bearer k_pro_secret' })).toBe(one);
    expect(await scope('203.0.113.7', { authorization: 'Bearer k_pro_other' })).not.toBe(one);
    expect(one).not.toContain('secret');
  });

  it('is of the address without a credential, and of the agent', async () => {
    const one = await scope('203.0.113.7', {});
    expect(await scope('203.0.113.8', {})).not.toBe(one);
    expect(await scope('203.0.113.7', { 'x-agent-did': 'did:svc:a' })).not.toBe(one);
  });
});
