import { describe, expect, it } from 'vitest';
import { challengeFaults, readChallenge } from './challenge.ts';

const way = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '1000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  maxTimeoutSeconds: 60,
};
const resource = { url: 'https://a.example/paid' };
const second = { x402Version: 2, resource, accepts: [way] };
const first = {
  x402Version: 1,
  accepts: [{ ...way, network: 'base', resource: resource.url, maxAmountRequired: '1000' }],
};

const inHeader = (value: unknown) => ({
  headers: new Map([['payment-required', Buffer.from(JSON.stringify(value)).toString('base64')]]),
  json: undefined,
});
const inBody = (json: object) => ({ headers: new Map<string, string>(), json: json as never });

describe('a challenge', () => {
  it('is read in both versions', () => {
    expect(readChallenge(inHeader(second))).toMatchObject({
      version: 2,
      ways: [{ amount: '1000', resource: resource.url }],
    });
    expect(readChallenge(inBody(first))).toMatchObject({
      version: 1,
      ways: [{ amount: '1000', resource: resource.url }],
    });
  });

  it.each([
    ['the second in the body', inBody(second)],
    ['the first in the header', inHeader(first)],
    ['no version', inHeader({ ...second, x402Version: undefined })],
    ['no resource', inHeader({ ...second, resource: undefined })],
    ['an amount that is a number', inHeader({ ...second, accepts: [{ ...way, amount: 1000 }] })],
    ['no base64', { headers: new Map([['payment-required', '{}']]), json: undefined }],
    ['base64 of something else', { headers: new Map([['payment-required', 'AAAA']]), json: undefined }],
    ['nothing', inBody({})],
  ])('is not %s', (_, answer) => {
    expect(readChallenge(answer)).toBeNull();
  });
});

describe('what can’t be paid', () => {
  const faultsOf = (change: object) => {
    const challenge = readChallenge(inHeader({ ...second, accepts: [{ ...way, ...change }] }));
    return challenge === null ? null : challengeFaults(challenge, 'https://a.example');
  };

  it('a sane one has no faults, on another kind of chain too', () => {
    expect(faultsOf({})).toEqual([]);
    expect(
      faultsOf({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', asset: 'EPjF', payTo: 'abc' }),
    ).toEqual([]);
  });

  it.each([
    [{ amount: '0' }, 'amount'],
    [{ amount: '-1' }, 'amount'],
    [{ amount: '1.5' }, 'amount'],
    [{ amount: '01' }, 'amount'],
    [{ network: 'base' }, 'network'],
    [{ asset: 'USDC' }, 'asset'],
    [{ payTo: '0x1' }, 'payTo'],
    [{ payTo: `0x${'0'.repeat(40)}` }, 'payTo'],
    [{ maxTimeoutSeconds: 0 }, 'maxTimeoutSeconds'],
    [{ maxTimeoutSeconds: 1.5 }, 'maxTimeoutSeconds'],
    [{ maxTimeoutSeconds: 86_401 }, 'maxTimeoutSeconds'],
  ])('%j', (change, named) => {
    expect(faultsOf(change)).toEqual([expect.stringContaining(named)]);
  });

  it('a resource of another origin', () => {
    const challenge = readChallenge(inHeader(second));
    expect(challenge && challengeFaults(challenge, 'https://b.example')).toEqual([
      expect.stringContaining('resource'),
    ]);
  });
});
