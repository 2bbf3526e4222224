import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CREDENTIALS, REGION } from '../../issuers/test/kms-server.ts';
import { answerHash, messages, type Routed, startRouted, streamHash, svcOf } from './compute.ts';
import { withModels } from './models.ts';
import { BEDROCK_KEY } from './upstream-bedrock.ts';
import { defaultPieces } from './upstream-script.ts';
import { serviceAccount } from './upstream-tokens.ts';

const MODELS = [
  'gemini/gemini-2.5-flash',
  'vertex/gemini-2.5-flash',
  'azure/gpt-4o',
  'bedrock/amazon.nova-lite-v1:0',
  'signed/amazon.nova-lite-v1:0',
];
const OWN = { context: 8_192, max_output: 1_024, abilities: ['stream'], price: { input: '1', output: '1' } };

let routed: Routed;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tally-providers-'));
  const file = join(folder, 'providers.json');
  routed = await startRouted({
    env: (url) => {
      const own = (name: string, kind: string, path: string, more: object) => ({
        name,
        kind,
        base_url: url + path,
        ...more,
      });
      const providers = [
        own('azure', 'azure', '/openai/v1', { api_key_env: 'AZURE_KEY' }),
        own('signed', 'bedrock', '', { signing_region: REGION }),
        own('vertex', 'vertex', '/v1/projects/p/locations/l/publishers/google', {
          api_key_env: 'ACCOUNT',
          oauth: { token_url: `${url}/token` },
        }),
      ];
      const models = ['azure', 'bedrock', 'signed', 'vertex'].map((name) => ({
        id: MODELS.find((id) => id.startsWith(`${name}/`)),
        ...OWN,
        prior: { general: 0.5 },
      }));
      writeFileSync(file, JSON.stringify(withModels({ providers, models })));
      return {
        TALLY_CONFIG: file,
        GEMINI_API_KEY: 'gemini-operator-secret',
        GOOGLE_GEMINI_BASE_URL: url,
        AWS_BEARER_TOKEN_BEDROCK: BEDROCK_KEY,
        AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
        AZURE_KEY: 'azure-operator-secret',
        ACCOUNT: serviceAccount(),
      };
    },
  });
});
afterAll(async () => {
  await routed.close();
  rmSync(folder, { recursive: true });
});

describe.each(MODELS)('a call of %s', (model) => {
  it('is answered, billed and receipted', async () => {
    const reply = await routed.chat({ model });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json).toMatchObject({ model, choices: [{ message: { content: defaultPieces.join('') } }] });
    const { receipt, billing } = svcOf(reply);
    expect(receipt.response.hash).toBe(answerHash(reply));
    expect(receipt.call).toMatchObject({ model, usage_estimated: false });
    expect(BigInt(billing.charge.nano)).toBeGreaterThan(0n);
    await routed.expectBalanced();
  });

  it('streams, and has a receipt of what was sent', async () => {
    const { status, payloads, svc } = await routed.stream({ model, messages });
    expect(status).toBe(200);
    expect(svc?.receipt.response.hash).toBe(streamHash(payloads));
    expect(svc?.receipt.call).toMatchObject({ model, complete: true });
    await routed.expectBalanced();
  });
});
