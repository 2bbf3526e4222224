import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, createSigner, generateSecretKey } from '../packages/sdk/src/index.ts';
import { freePort } from '../packages/server/test/free-port.ts';
import { type Served, serve, temporaryFolder } from './process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
const [, code = ''] = /```js run\n([\s\S]*?)```/.exec(page) ?? [];
// Beside the packages that it imports.
const script = join(root, 'e2e/webhooks-docs.run.mjs');

let service: Served;
beforeAll(async () => {
  service = await serve({ TALLY_DATA_DIR: temporaryFolder(), TALLY_DEVNET: 'off' });
});
afterAll(async () => {
  rmSync(script, { force: true });
  await service.kill('SIGTERM');
});

test('the receiver of docs/webhooks.md takes messages of the service, and no others', async () => {
  const signer = await createSigner(generateSecretKey());
  const client = createClient({ baseUrl: service.url, agent: { did: signer.keyId, signer } });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const { id, secret } = await client.createWebhook({ url, events: ['balance.low'] });

  writeFileSync(script, code.replace('3000', `${port}`));
  const env = { ...process.env, WEBHOOK_SECRET: secret };
  const receiver = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await expect
      .poll(() =>
        fetch(url, { method: 'POST', body: '{}' }).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(400);
    await client.testWebhook(id);
    const [line] = (await once(createInterface(receiver.stdout), 'line')) as [string];
    expect(line).toMatch(/^webhook\.test \{/);
    const answers = async () => (await client.listWebhookDeliveries(id)).data.map(({ status }) => status);
    await expect.poll(answers).toEqual([204]);
  } finally {
    receiver.kill();
  }
});
