import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  createSigner,
  generateSecretKey,
  readRequestSignature,
  type Signer,
  verifyRequestSignature,
} from '@tallystick/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeEngine } from '../../../kit/src/crypto/node-ed25519.ts';
import { nodeSha256 } from '../../../kit/src/crypto/node-sha256.ts';
import { createWebhook, type WebhookOptions } from './webhook.ts';

const NOW = 1_800_000_000;
const DOCUMENT = { v: 'svc-key-delivery-v1', key: 'k_pro_x' };

let signer: Signer;
let domain: string;
let handle: (request: IncomingMessage, response: ServerResponse) => void;
let calls: number;
const server = createServer((request, response) => {
  calls += 1;
  handle(request, response);
});

beforeEach(async () => {
  calls = 0;
  signer = await createSigner(generateSecretKey());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  domain = `localhost:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});

function webhook(options: Partial<WebhookOptions> = {}) {
  const issuer = { did: 'did:svc:test', signer: () => signer };
  return createWebhook({ issuer, development: true, clock: () => NOW * 1000, ...options });
}

describe('a webhook', () => {
  it('gets the document, signed as the service', async () => {
    const got = new Promise<{ request: IncomingMessage; body: Buffer }>((resolve) => {
      handle = (request, response) => {
        response.writeHead(200).end('ignored');
        resolve(buffer(request).then((body) => ({ request, body })));
      };
    });
    await webhook()(domain, DOCUMENT);
    const { request, body } = await got;
    expect(JSON.parse(body.toString())).toEqual(DOCUMENT);
    expect([request.method, request.url]).toEqual(['POST', '/.well-known/tally-key']);
    const signature = readRequestSignature(
      {
        method: 'POST',
        urls: [new URL(`http://${domain}/.well-known/tally-key`)],
        header: (name: string) => String(request.headers[name] ?? '') || undefined,
        body,
      },
      { now: NOW, sha256: nodeSha256 },
    );
    expect(signature.did).toBe('did:svc:test');
    expect(await verifyRequestSignature(nodeEngine, signer.publicKey, signature)).toBe(true);
  });

  it.each([301, 302, 307, 308])('that answers %s is not followed, and has not taken it', async (status) => {
    handle = (_, response) => response.writeHead(status, { location: `http://${domain}/elsewhere` }).end();
    await expect(webhook()(domain, DOCUMENT)).rejects.toThrow(`answered ${status}`);
    expect(calls).toBe(1);
  });

  it('that never answers is left after the time-out', async () => {
    handle = () => {};
    await expect(webhook({ timeoutMs: 50 })(domain, DOCUMENT)).rejects.toThrow(
      /within 50 ms|longer than 50 ms/,
    );
  });

  it('whose name never resolves is left after the time-out', async () => {
    const never = webhook({ timeoutMs: 50, resolve: () => new Promise(() => {}) });
    await expect(never('example.com', DOCUMENT)).rejects.toThrow('longer than 50 ms');
  });

  it.each([['127.0.0.1'], ['::1'], ['168.63.129.16'], ['1.1.1.1', '10.0.0.1'], ['::ffff:127.0.0.1']])(
    'at %s %s is not called',
    async (...addresses) => {
      const guarded = webhook({ resolve: async () => addresses });
      await expect(guarded('example.com', DOCUMENT)).rejects.toThrow('may not call');
      expect(calls).toBe(0);
    },
  );

  it('on this machine is not called in production', async () => {
    await expect(webhook({ development: false })(domain, DOCUMENT)).rejects.toThrow('Only https');
    expect(calls).toBe(0);
  });

  it('without an address is not called', async () => {
    await expect(webhook({ resolve: async () => [] })('example.com', DOCUMENT)).rejects.toThrow('no address');
  });
});
