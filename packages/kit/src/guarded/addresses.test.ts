import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AddressClass, addressClass } from './addresses.ts';

/** First and last of each range, and the neighbours that are outside. */
const TABLE: readonly (readonly [AddressClass, string])[] = [
  ['public', '1.0.0.0'],
  ['reserved', '0.0.0.0'],
  ['reserved', '0.255.255.255'],
  ['public', '9.255.255.255'],
  ['private', '10.0.0.0'],
  ['private', '10.255.255.255'],
  ['public', '11.0.0.0'],
  ['public', '100.63.255.255'],
  ['shared', '100.64.0.0'],
  ['shared', '100.100.100.200'],
  ['shared', '100.127.255.255'],
  ['public', '100.128.0.0'],
  ['public', '126.255.255.255'],
  ['loopback', '127.0.0.0'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.255'],
  ['public', '128.0.0.0'],
  ['metadata', '168.63.129.16'],
  ['public', '169.253.255.255'],
  ['link_local', '169.254.0.0'],
  ['link_local', '169.254.169.254'],
  ['link_local', '169.254.255.255'],
  ['public', '169.255.0.0'],
  ['public', '172.15.255.255'],
  ['private', '172.16.0.0'],
  ['private', '172.31.255.255'],
  ['public', '172.32.0.0'],
  ['reserved', '192.0.0.0'],
  ['reserved', '192.0.2.1'],
  ['translated', '192.88.99.1'],
  ['private', '192.168.0.0'],
  ['private', '192.168.255.255'],
  ['public', '192.169.0.0'],
  ['reserved', '198.18.0.0'],
  ['reserved', '198.19.255.255'],
  ['reserved', '198.51.100.7'],
  ['reserved', '203.0.113.7'],
  ['public', '223.255.255.255'],
  ['multicast', '224.0.0.0'],
  ['multicast', '239.255.255.255'],
  ['reserved', '240.0.0.0'],
  ['reserved', '255.255.255.255'],
  ['translated', '::'],
  ['loopback', '::1'],
  ['translated', '::2'],
  ['translated', '::7f00:1'],
  ['translated', '::ffff:127.0.0.1'],
  ['translated', '::ffff:7f00:1'],
  ['translated', '::ffff:8.8.8.8'],
  ['translated', '0:0:0:0:0:ffff:0a00:0001'],
  ['translated', '64:ff9b::a00:1'],
  ['translated', '64:ff9b:1::1'],
  ['translated', '2002:7f00:1::'],
  ['translated', '2001:0:7f00:1::'],
  ['reserved', '2001:10::1'],
  ['reserved', '2001:1ff:ffff::1'],
  ['public', '2001:200::1'],
  ['reserved', '2001:db8::1'],
  ['public', '2001:4860:4860::8888'],
  ['public', '2606:4700::1111'],
  ['reserved', '3fff::1'],
  ['public', '3ffe:ffff::1'],
  ['reserved', '4000::1'],
  ['reserved', '5f00::1'],
  ['reserved', '100::1'],
  ['private', 'fc00::1'],
  ['private', 'fd00:ec2::254'],
  ['link_local', 'fe80::1'],
  ['link_local', 'febf::1'],
  ['reserved', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['invalid', 'fe80::1%eth0'],
  ['invalid', 'localhost'],
  ['invalid', '127.1'],
  ['invalid', '0x7f.0.0.1'],
  ['invalid', '[::1]'],
  ['invalid', ''],
];

describe('the class of an address', () => {
  it.each(TABLE)('%s: %s', (kind, address) => {
    expect(addressClass(address)).toBe(kind);
  });

  it('is that of the number, however IPv6 is spelled', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.tuple(group, group, group, group, group, group, group, group), (groups) => {
        const long = groups.map((one) => one.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${long}]`).hostname.slice(1, -1);
        expect(addressClass(short)).toBe(addressClass(long));
        expect(addressClass(long.toUpperCase())).toBe(addressClass(long));
      }),
    );
  });

  it('is public for no IPv6 address that holds a private IPv4 one', () => {
    const privately = fc
      .tuple(fc.constantFrom([10, 0], [127, 0], [192, 168], [169, 254], [172, 16]), fc.nat(255), fc.nat(255))
      .map(([[a = 0, b = 0], c, d]) => [(a << 8) | b, (c << 8) | d].map((one) => one.toString(16)).join(':'));
    fc.assert(
      fc.property(privately, (v4) => {
        for (const form of [`::${v4}`, `::ffff:${v4}`, `64:ff9b::${v4}`, `2002:${v4}::1`, `2001::${v4}`])
          expect([form, addressClass(form)]).toEqual([form, 'translated']);
      }),
    );
  });

  it('of IPv4 agrees with arithmetic for the private ranges', () => {
    fc.assert(
      fc.property(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255), (a, b, c, d) => {
        const isPrivate = a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168);
        expect(addressClass([a, b, c, d].join('.')) === 'private').toBe(isPrivate);
      }),
    );
  });
});
