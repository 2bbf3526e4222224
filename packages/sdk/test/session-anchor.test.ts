import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  generateSecretKey,
  readSessionReceipt,
  type SessionVerification,
  type Trust,
  verifySession,
} from '@tallystick/core';
import { beforeAll, expect, test } from 'vitest';
import { serve, tally, temporaryFolder } from '../../../e2e/process.ts';
import { type Client, createClient } from '../src/index.ts';
import { openSessionFile } from '../src/session-file/index.ts';

const key = generateSecretKey();
const call = {
  tool: 'read',
  server: { name: 'files', version: null, transport: 'stdio', identity_sha256: null },
  outcome: 'completed',
} as const;

let client: Client;
let trust: Trust;
beforeAll(async () => {
  const TALLY_DATA_DIR = temporaryFolder();
  const { url } = await serve({ TALLY_DATA_DIR, TALLY_ANCHOR_PERIOD_SECONDS: '1' });
  const { stdout } = await tally(['apikey', 'create', '--tier', 'pro'], { TALLY_DATA_DIR });
  client = createClient({ baseUrl: url, apiKey: stdout.trim() });
  ({ issuers: trust } = await client.fetchTrust());
});

const judge = (path: string): Promise<SessionVerification> =>
  verifySession(readFileSync(path), { now: Date.now(), trust });

test('a session’s head is anchored while it is recorded, and its closing', async () => {
  const path = join(temporaryFolder(), 'session.jsonl');
  const failed: unknown[] = [];
  const onError = (error: unknown): void => void failed.push(error);
  const session = await openSessionFile(path, { key, anchor: { client, everyMs: 100, onError } });
  await session.record(call);
  await expect.poll(async () => (await judge(path)).anchored_up_to).toBe(1);
  await Promise.all([session.record(call), session.record(call)]);
  const closing = await session.close();
  expect(await judge(path)).toMatchObject({ valid: true, state: 'closed', count: 5 });
  const { hash } = readSessionReceipt(closing);
  expect(await client.getAnchorByHash(hash.slice('sha256:'.length))).toHaveProperty('anchor_ref');
  expect(failed).toEqual([]);
});

test('a service that is away holds up nothing', async () => {
  const path = join(temporaryFolder(), 'session.jsonl');
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const away = createClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k_pro_x', retries: 0 });
  const session = await openSessionFile(path, {
    key,
    anchor: { client: away, everyMs: 1, onError: resolve },
  });
  expect(await promise).toMatchObject({ code: 'unavailable' });
  await session.record(call);
  await session.close();
  expect(await judge(path)).toMatchObject({ valid: true, state: 'closed', anchored_up_to: null });
});
