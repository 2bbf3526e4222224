import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Routed, startRouted } from './compute.ts';
import { apiKey, DATABASES } from './service.ts';

/** Services with nothing in common but their database and their keys, as processes are. */
describe.each(DATABASES)('what is kept of a call that another service has just answered, %s', (database) => {
  let one: Routed;
  let other: Routed;
  let headers: Record<string, string>;
  beforeAll(async () => {
    const env = { TALLY_KEEP_CONTENT_DAYS: '2' };
    one = await startRouted({ database, env });
    const { database: shared, keyring, dataDir } = one.service.config;
    other = await startRouted({
      env: {
        ...env,
        TALLY_DATA_DIR: dataDir,
        TALLY_KEYRING: keyring.path,
        ...(shared.kind === 'postgres' && { TALLY_DATABASE_URL: shared.url }),
      },
    });
    headers = await apiKey(one.service, 'pro');
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  const call = async (svc: JsonObject): Promise<string> => {
    const reply = await one.chat(
      { model: 'auto', messages: [{ role: 'user', content: 'Hi.' }], svc },
      headers,
    );
    expect(reply.status, reply.text).toBe(200);
    return `/v1/compute/calls/${reply.headers.get('x-receipt-id')}/content`;
  };

  it('is read there', async () => {
    const { status, json } = await other.service.get(await call({ keep: true }), headers);
    expect(status).toBe(200);
    expect(json).toMatchObject({ request: { messages: [{ content: 'Hi.' }] } });
  });

  it('is deleted there, for good', async () => {
    const path = await call({ keep: true });
    expect((await other.service.request(path, { method: 'DELETE', headers })).status).toBe(204);
    await one.service.listed();
    expect((await one.service.get(path, headers)).status).toBe(404);
  });

  it('is nothing where it does not ask for it', async () => {
    const path = await call({});
    expect((await other.service.request(path, { method: 'DELETE', headers })).status).toBe(404);
  });
});
