import { sha256Hex, utf8 } from '@tallystick/core';
import { createClient } from '@tallystick/sdk';
import { expect, test } from 'vitest';

const client = createClient({
  baseUrl: 'https://receipts.example.com',
  fetch: async () => new Response('evidence', { headers: { 'content-type': 'application/octet-stream' } }),
});
const sha256 = sha256Hex(utf8('evidence'));

test.each([`tdx:sha256:${sha256}`, sha256])('evidence is read by %s', async (attestation) => {
  expect(Buffer.from(await client.getAttestation(attestation)).toString()).toBe('evidence');
});

test('evidence of another SHA-256 is refused', async () => {
  await expect(client.getAttestation(`tdx:sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({
    code: 'attestation_invalid',
  });
});

test.each(['', 'tdx', `${sha256}0`, sha256.toUpperCase(), `tdx:sha512:${sha256}`, `../${sha256}`])(
  '“%s” names no evidence',
  async (attestation) => {
    await expect(client.getAttestation(attestation)).rejects.toMatchObject({
      code: 'invalid_field',
      field: 'attestation',
    });
  },
);
