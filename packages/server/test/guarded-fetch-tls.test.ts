import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createGuardedFetch } from '../../kit/src/guarded/guarded-fetch.ts';
import { guardPolicy } from '../../kit/src/guarded/policy.ts';
import { type TestCertificate, testCertificate } from './certificate.ts';

const DAY = 86_400_000;
const good = testCertificate({ from: Date.now() - DAY, until: Date.UTC(2049, 0, 1) });
const expired = testCertificate({ from: Date.UTC(2020, 0, 1), until: Date.UTC(2021, 0, 1) });

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve({ cert, key }: TestCertificate): Promise<number> {
  const server = createServer({ cert, key }, (_, response) => response.end('ok'));
  closing.push(() => server.close());
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', () => resolve());
  await promise;
  return (server.address() as AddressInfo).port;
}

const policy = guardPolicy({ mode: 'development' });
const trusting = (ca: string | undefined, name?: string) =>
  createGuardedFetch({ policy, ca, ...(name === undefined ? {} : { resolve: async () => ['127.0.0.1'] }) });

describe('over TLS', () => {
  it.each(['127.0.0.1', 'localhost'])('a certificate that is good for %s is accepted', async (host) => {
    const port = await serve(good);
    const { tls, status } = await trusting(good.cert, host)(`https://${host}:${port}/`);
    expect([status, tls]).toEqual([
      200,
      {
        protocol: 'TLSv1.3',
        fault: null,
        validFrom: expect.any(Number),
        validUntil: Date.UTC(2049, 0, 1),
      },
    ]);
  });

  it.each<[string, TestCertificate, boolean, string, string]>([
    ['of nobody known', good, false, '127.0.0.1', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['that has expired', expired, true, '127.0.0.1', 'CERT_HAS_EXPIRED'],
    ['of another name', good, true, 'other.example', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('one %s is refused, and told on request', async (_, certificate, known, host, code) => {
    const port = await serve(certificate);
    const asked = trusting(known ? certificate.cert : undefined, host);
    const url = `https://${host}:${port}/`;
    await expect(asked(url)).rejects.toMatchObject({
      fault: 'tls',
      message: `The TLS connection was not made: ${code}.`,
    });
    expect((await asked(url, { anyCertificate: true })).tls?.fault).toContain(code);
  });
});
