import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import {
  createSigner,
  generateSecretKey,
  type JsonObject,
  readSessionReceipt,
  type Signer,
  verify,
} from '@tallystick/core';
import {
  type Client,
  type ClientOptions,
  createClient,
  type EnvelopeReceipt,
  type Fetch,
  openSession,
  signStatement,
  verifyCorrections,
  verifyForeign,
  verifySession,
} from '@tallystick/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { creditCaller } from '../packages/ledger/src/credit.ts';
import { apiKey, runningClock, startTestService, type TestService } from '../packages/server/test/service.ts';
import { newTenant } from '../packages/server/test/tenant.ts';
import { sdkTypes } from '../scripts/openapi/sdk-types.ts';
import { type Operation, operationsOf } from './openapi-document.ts';
import { payer } from './payer.ts';

/** The TypeScript SDK beside the OpenAPI document of a running service. `TALLY_WRITE_SDK_TYPES=1` writes the SDK's types. */
const TYPES = new URL('../packages/sdk/src/methods/documents.ts', import.meta.url);

const EVIDENCE = new URL('../spec/vectors/attestation/nvidia.json', import.meta.url);
const ATTESTATION = 'nvidia:sha256:cea50a20d2261b339c3090c889c9af37b0f5ce8f58f74420d5a971b93e3a8f96';

/** Operations that no method calls, with the reason. */
const WITHOUT_METHOD: Readonly<Record<string, string>> = {
  ...because('An MCP client calls it.', ['callMcp', 'endMcpSession']),
  ...because('It is a page for people.', [
    'getLandingPage',
    'getVerifyPage',
    'getBenchmarkPage',
    'getReceiptsPage',
    'getEvidencePage',
    'getLogPage',
    'getUsagePage',
    'getLeaderboardPage',
    'getActivityPage',
    'getCallPage',
    'getSessionsPage',
    'getSessionPage',
    'getKeysPage',
    'getBalancePage',
    'getWebhooksPage',
    'getMembersPage',
    'getOperatorPage',
    'getEvidenceBuildPage',
    'getAsset',
    'getReference',
    'getIconPicture',
    'getSvgPicture',
    'getSocialPicture',
    'getRobots',
    'getSitemap',
    'getLlmsText',
    'getSecurityText',
    'getErrorReference',
  ]),
  ...because('It is for the operator’s probes and monitoring.', ['getHealth', 'getReadiness', 'getMetrics']),
  ...because('It is for generators of code.', ['getOpenApiDocument']),
  ...because('Tools that speak SCITT call it.', [
    'registerStatement',
    'getStatementReceipt',
    'listCoseKeys',
    'getCoseKey',
  ]),
  ...because('It is for operators, whose page calls it.', [
    'getOperatorOverview',
    'restProvider',
    'resumeProvider',
    'restModel',
    'resumeModel',
  ]),
  ...because('It is for plots.', [
    'countReceipts',
    'countTenantReceipts',
    'countAnchors',
    'countLeaves',
    'countPostings',
  ]),
  ...because('The page of the status shows it.', ['getStatusHistory']),
  ...because('The page of the balance shows it; getBalanceStatement gives the same.', ['listBalanceEntries']),
  ...because('The page of webhooks does it, for a person who sees that a delivery failed.', [
    'repeatWebhookDelivery',
  ]),
};

/** Paths that the clients of OpenAI and Anthropic call, with `clientOptions()`. */
const OF_OTHER_CLIENTS =
  /^\/v1\/compute\/(?:chat\/completions|completions|embeddings|messages|responses|v1)(?:\/|$)/;

function because(reason: string, operationIds: readonly string[]): Record<string, string> {
  return Object.fromEntries(operationIds.map((operationId) => [operationId, reason]));
}

let service: TestService;
let document: JsonObject;
let operations: readonly Operation[];
let given: Given;

/** Clients of one service with different credentials, and what is there for them. */
interface Given {
  /** Where the service listens. */
  readonly url: string;
  /** With an enterprise key. */
  readonly client: Client;
  readonly keyId: string;
  /** Signs as a DID that has a balance. */
  readonly agent: Client;
  readonly did: string;
  readonly tenant: Client;
  readonly tenantId: string;
  readonly partner: Client;
  /** Pays by x402. */
  readonly payer: Client;
  readonly signer: Signer;
  readonly receipt: EnvelopeReceipt;
}

/** Requests that were answered with success, by the ids of their operations. */
const reached = new Set<string>();
/** Number of requests that were answered with success since a test set it to 0. */
let answered = 0;

beforeAll(async () => {
  service = await startTestService({
    clock: runningClock(),
    env: {
      TALLY_DEVNET: 'on',
      TALLY_PAYMENTS: 'x402',
      TALLY_X402_WAIT_SECONDS: '5',
      TALLY_ANCHOR_PERIOD_SECONDS: '1',
      TALLY_KEEP_CONTENT_DAYS: '1',
      TALLY_HARDWARE_ATTESTATION: ATTESTATION,
      TALLY_ATTESTATION_DIR: fileURLToPath(new URL('.', EVIDENCE)),
    },
  });
  const url = await service.listen();
  document = (await (await fetch(`${url}/openapi.json`)).json()) as JsonObject;
  operations = operationsOf(document);
  given = await context(url);
});
afterAll(() => service.close());

async function context(url: string): Promise<Given> {
  const { store, money } = service.services;
  const credit = (caller: string) =>
    creditCaller(store, {
      caller,
      amount: 50_000_000_000n,
      reference: caller,
      memo: 'top-up',
      now: service.clock(),
    });
  const clientOf = (options: ClientOptions, over: Fetch = fetch): Client =>
    // Message signatures cover the public address, at which nothing listens here.
    createClient({ ...options, baseUrl: service.config.apiUrl, fetch: recorded(url, over) });
  const bearer = ({ authorization }: { readonly authorization: string }) =>
    authorization.slice('Bearer '.length);
  const client = clientOf({ apiKey: bearer(await apiKey(service, 'enterprise')) });
  let keyId = '';
  for await (const { id } of store.apiKeys.list()) {
    await credit(id);
    keyId = id;
  }
  const signer = await createSigner(generateSecretKey());
  await credit(signer.keyId);
  const { id: tenantId, headers } = await newTenant(service);
  return {
    url,
    client,
    keyId,
    agent: clientOf({ agent: { did: signer.keyId, signer } }),
    did: signer.keyId,
    tenant: clientOf({ apiKey: bearer(headers) }),
    tenantId,
    partner: clientOf({ apiKey: bearer(await apiKey(service, 'partner')) }),
    payer: clientOf({ agentDid: signer.keyId }, payer('alice', money?.rpcUrl ?? '').fetch),
    signer,
    receipt: (await client.mintFree({ input: 'x', purpose: 'p' })).receipt,
  };
}

/** A `fetch` that finds the service where it listens, and notes the operations that succeed. */
function recorded(url: string, over: Fetch): Fetch {
  return async (address, init) => {
    const { pathname, search } = new URL(address);
    const response = await over(url + pathname + search, init);
    const method = (init.method ?? 'GET').toLowerCase();
    const operation = operations.find((one) => one.method === method && patternOf(one).test(pathname));
    if (response.ok) answered += 1;
    if (response.ok && operation !== undefined) reached.add(operation.operationId);
    return response;
  };
}

function patternOf({ path }: Operation): RegExp {
  // The last parameter of a tile's path takes the rest of it.
  const rest = path === '/tile/{path}' ? '.+' : '[^/]+';
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, rest)}$`);
}

const HASH = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';
const BILL = {
  machineCommitment: 'ab'.repeat(32),
  customerCommitment: 'cd'.repeat(32),
  saltCommitment: 'ef'.repeat(32),
  windowStart: '2026-01-01T00:00:00Z',
  windowEnd: '2026-01-01T08:00:00Z',
  serviceUnit: 'pick',
  billedUnitCount: 1,
  evidence: [],
  rate: { unitRateMinor: 1, currency: 'EUR', rateCommitment: '12'.repeat(32) },
} as const;
const ISSUE = {
  symbol: 'USDC',
  units: 1,
  amountUsd: 1,
  recipient: '0x52908400098527886E0F7030069857D2E4169EE7',
  issuerSk: generateSecretKey(),
  anchor: true,
};
const SALTED = `sha256:${'ab'.repeat(32)}`;
const TOOL_SERVER = { name: 'files', version: null, transport: 'in_process', identity_sha256: null } as const;
const CHAT = { messages: [{ role: 'user' as const, content: 'Who holds the stock?' }] };

/** Nothing listens there. */
const HOOK = { url: 'http://127.0.0.1:9/', events: ['key.revoked'] } as const;
const LOCAL_MODEL = 'local/extract-1';

/** The id of the receipt of a model's call. */
async function calledModel(client: Client, tags: Record<string, string> = {}): Promise<string> {
  const body = { model: LOCAL_MODEL, ...CHAT, svc: { tags } };
  const { response } = await new OpenAI(client.clientOptions()).chat.completions.create(body).withResponse();
  return response.headers.get('x-receipt-id') ?? '';
}

/** A call of each method that the service answers with success. */
const CALLS: { readonly [Name in keyof Client]: (context: Given) => unknown } = {
  mintFree: ({ client }) => client.mintFree({ input: 'x', purpose: 'p' }),
  emit: ({ client }) => client.emit({ payload: { order: 42 } }),
  meter: ({ client }) => client.meter(BILL),
  issue: ({ client }) => client.issue(ISSUE),
  openServiceSession: ({ client }) =>
    client.openServiceSession({ sessionId: randomBytes(16).toString('hex'), saltCommitment: SALTED }),
  addSessionReceipt: async ({ client }) => {
    const session = await openSession({ client });
    await session.record({
      tool: 'read',
      server: TOOL_SERVER,
      outcome: 'completed',
      arguments: { path: '/' },
    });
    expect(readSessionReceipt(await session.close()).call.session.seq).toBe('2');
  },
  getSession: async ({ payer, client }) => {
    const session = await openSession({ client });
    await session.close();
    const lines = await client.getSession(session.id);
    expect(await verifySession(lines, { now: Date.now() })).toMatchObject({ valid: true, state: 'closed' });
    // Whoever pays by x402 keeps what it gets.
    const kept: string[] = [];
    const paid = await openSession({ client: payer, keep: (receipt) => kept.push(receipt) });
    await paid.close();
    expect(await verifySession(kept.map((line) => `${line}\n`).join(''), { now: Date.now() })).toMatchObject({
      valid: true,
      count: 2,
    });
  },
  anchor: ({ client, receipt }) => client.anchor(receipt),
  anchorBatch: ({ client }) => client.anchorBatch([HASH]),
  getAnchor: async ({ client }) => client.getAnchor((await client.anchor(HASH)).anchor_ref),
  getAnchorByHash: ({ client }) => client.getAnchorByHash(HASH),
  waitForAnchor: ({ client }) => client.waitForAnchor(HASH),
  getCoseReceipt: async ({ client }) => {
    await client.anchor(HASH);
    const receipt = await vi.waitFor(() => client.getCoseReceipt(HASH), 60_000);
    expect(await verifyForeign(receipt, { entry: Buffer.from(HASH, 'base64url') })).toMatchObject({
      family: 'cose_receipt',
    });
  },
  getAnchorProof: async ({ client }) => {
    const { anchor_ref } = await client.waitForAnchor(HASH);
    const proof = await client.getAnchorProof(anchor_ref);
    expect(proof).toMatch(/^c2sp\.org\/tlog-proof@v1\n/);
    expect(await client.getAnchorProof(HASH)).toMatch(/^c2sp\.org\/tlog-proof@v1\n/);
  },
  getAttestation: async ({ client }) => {
    const { receipt } = await client.mintFree({ input: 'x', purpose: 'p' });
    const { attestation } = receipt.hardware;
    expect(attestation).toBe(ATTESTATION);
    expect(Buffer.from(await client.getAttestation(ATTESTATION)).equals(readFileSync(EVIDENCE))).toBe(true);
    const twisted = ATTESTATION.replace('cea5', 'cea6');
    await expect(client.getAttestation(twisted)).rejects.toMatchObject({ code: 'not_found' });
  },
  getReceipt: ({ client, receipt }) => client.getReceipt(receipt.receipt_id),
  correctReceipt: async ({ client }) => {
    const mint = () => client.mintFree({ input: 'x', purpose: 'p' });
    const [first, second] = [await mint(), await mint()];
    const [corrects, correction] = [first.receipt.receipt_id, second.receipt.receipt_id];
    const link = await client.correctReceipt({ corrects, correction });
    const found = await verifyCorrections([first.text, second.text, link.text]);
    expect(found).toMatchObject([{ valid: true, corrects: { state: 'valid' } }]);
  },
  getCorrections: async ({ client, receipt }) =>
    expect(await client.getCorrections(receipt.receipt_id)).toMatchObject({ corrected_by: null }),
  verify: ({ client, receipt }) => client.verify(receipt),
  verifyMany: ({ client, receipt }) => client.verifyMany([receipt]),
  pricing: ({ client }) => client.pricing(),
  selectProfile: ({ client }) => client.selectProfile({ amount: '12.50' }),
  registerIssuer: ({ client, signer }) => client.registerIssuer({ handle: 'acme', key: signer }),
  submitIssuerStatement: async ({ client, signer }) => {
    const [audience = ''] = (await client.getDidDocument()).alsoKnownAs;
    const second = await createSigner(generateSecretKey());
    const facts = {
      audience,
      did: 'did:svc:acme',
      sequence: 2,
      action: 'add_key',
      keyId: second.keyId,
    } as const;
    const statement = await signStatement({ ...facts, at: Date.now() }, signer, second);
    const record = await client.submitIssuerStatement(statement);
    expect(record.keys.map(({ key_id }) => key_id)).toEqual([signer.keyId, second.keyId]);
  },
  issuer: ({ client }) => client.issuer('did:svc:acme'),
  fetchTrust: ({ client }) => client.fetchTrust(),
  trustVersion: ({ client }) => client.trustVersion(1),
  getDidDocument: ({ client }) => client.getDidDocument(),
  getStatus: ({ client }) => client.getStatus(),
  listPayableResources: ({ client }) => client.listPayableResources(),
  getLogStatus: ({ client }) => client.getLogStatus(),
  listPostings: async ({ client }) => {
    await client.listPostings({ limit: 5 });
    const { data } = await client.listPostings({
      state: 'finalized',
      txHash: `0x${'0'.repeat(64)}`,
      treeSize: 1,
    });
    expect(data).toEqual([]);
  },
  listLeaves: async ({ client }) => {
    const { data } = await client.listLeaves({ fromIndex: 0, limit: 5 });
    expect(data.map(({ leaf_index }) => leaf_index)).toEqual([0]);
  },
  listAnchors: async ({ client, keyId }) => {
    const { data } = await client.listAnchors({ canonicalSha256: HASH, key: keyId });
    expect(data).toMatchObject([{ canonical_sha256: HASH }]);
  },
  listReceipts: async ({ client, keyId }) => {
    const listed = async () => (await client.listReceipts({ key: keyId, limit: 1 })).data;
    await expect.poll(listed).toHaveLength(1);
    expect((await client.listReceipts({ receiptId: 'r', requestHash: 'ab'.repeat(32), to: 1 })).data).toEqual(
      [],
    );
    const ofCalls = { provider: 'none', status: 'error', tag: 'a:b', minCost: '0', maxCost: '1' } as const;
    expect((await client.listReceipts(ofCalls)).data).toEqual([]);
  },
  listSessions: async ({ client, keyId }) => {
    const session = await openSession({ client });
    await session.close();
    const listed = async () => (await client.listSessions({ key: keyId, limit: 5 })).data;
    await expect
      .poll(listed)
      .toContainEqual(expect.objectContaining({ session: session.id, receipts: 2, calls: 0 }));
  },
  signStreamHead: async ({ tenant, tenantId }) => {
    await tenant.emitTenantReceipt(tenantId, { input: 'chained' });
    const { count, stream } = await tenant.signStreamHead();
    expect([stream, count > 0]).toEqual([`tenant:${tenantId}`, true]);
  },
  readStream: async ({ client }) => {
    const head = await client.signStreamHead();
    const part = await client.readStream({ first: 1, limit: 5 });
    expect(part).toMatchObject({ stream: head.stream, hashes: [], heads: [head] });
  },
  listTenantReceipts: async ({ tenant, tenantId }) => {
    const { receipt } = await tenant.emitTenantReceipt(tenantId, { input: 'listed' });
    const receiptId = receipt.receipt.id;
    const listed = async () => (await tenant.listTenantReceipts(tenantId, { receiptId })).data;
    await expect.poll(listed).toMatchObject([{ receipt_id: receiptId }]);
  },
  listCalls: async ({ client }) => {
    await calledModel(client);
    const listed = async () => (await client.listCalls({ status: 'ok', limit: 1 })).data;
    await expect.poll(listed).toMatchObject([{ model: LOCAL_MODEL, status: 200 }]);
    expect(
      (await client.listCalls({ receiptId: 'r_env_1803902400_0123456789ab', minCost: '0' })).data,
    ).toEqual([]);
  },
  countCalls: async ({ client }) => {
    await calledModel(client);
    const counted = async () => (await client.countCalls({ bucket: 'day', by: 'model' })).data;
    await expect.poll(counted).toContainEqual(expect.objectContaining({ by: LOCAL_MODEL }));
  },
  getCall: async ({ client }) => {
    const id = await calledModel(client);
    const found = async () => client.getCall(id).catch(() => null);
    await expect.poll(found).toMatchObject({ id, timeline: expect.any(Array) });
  },
  followCalls: async ({ client }) => {
    const ended = new AbortController();
    const calls = client.followCalls({ model: LOCAL_MODEL, tag: 'of:follow' }, { signal: ended.signal });
    const next = calls.next();
    const made = await calledModel(client, { of: 'follow' });
    expect((await next).value).toMatchObject({ id: made, tags: { of: 'follow' } });
    ended.abort();
    await expect(calls.next()).rejects.toThrow(/abort/i);
  },
  listWebhooks: async ({ agent }) => {
    const { id } = await agent.createWebhook(HOOK);
    expect((await agent.listWebhooks()).data).toMatchObject([{ id, url: HOOK.url }]);
    await agent.deleteWebhook(id);
  },
  createWebhook: async ({ client }) => {
    const { id, secret } = await client.createWebhook(HOOK);
    expect(secret).toMatch(/^whsec_/);
    await client.deleteWebhook(id);
  },
  updateWebhook: async ({ client }) => {
    const { id } = await client.createWebhook(HOOK);
    expect(await client.updateWebhook(id, { enabled: false })).toMatchObject({
      enabled: false,
      events: HOOK.events,
    });
    await client.deleteWebhook(id);
  },
  deleteWebhook: async ({ client }) => {
    const { id } = await client.createWebhook(HOOK);
    expect(await client.deleteWebhook(id)).toBeUndefined();
    expect((await client.listWebhooks()).data).toEqual([]);
  },
  testWebhook: async ({ agent }) => {
    const { id } = await agent.createWebhook(HOOK);
    expect((await agent.testWebhook(id)).id).toEqual(expect.any(String));
    await agent.deleteWebhook(id);
  },
  getCallContent: async ({ client }) => {
    const id = await keptCall(client);
    // Another process may read it a second after the answer, and a rating is taken then.
    const { answer, request } = await vi.waitFor(() => client.getCallContent(id), 60_000);
    expect(request).toMatchObject({ svc: { keep: true } });
    expect(answer).toMatchObject({ object: 'chat.completion' });
  },
  deleteCallContent: async ({ client }) => {
    const id = await keptCall(client);
    await vi.waitFor(() => client.deleteCallContent(id), 60_000);
    await expect(client.getCallContent(id)).rejects.toMatchObject({ code: 'content_not_kept' });
  },
  rotateWebhookSecret: async ({ agent }) => {
    const { id, secret } = await agent.createWebhook(HOOK);
    const rotated = await agent.rotateWebhookSecret(id, { graceSeconds: 60 });
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.previous_secret_until).not.toBeNull();
    await agent.deleteWebhook(id);
  },
  listWebhookDeliveries: async ({ client }) => {
    const { id } = await client.createWebhook(HOOK);
    const { id: message } = await client.testWebhook(id);
    expect((await client.listWebhookDeliveries(id, { limit: 5 })).data).toMatchObject([{ id: message }]);
    await client.deleteWebhook(id);
  },
  getCheckpoint: async ({ client }) => {
    const { origin } = await client.getLogStatus();
    expect(await client.getCheckpoint()).toMatch(new RegExp(`^${origin}\n\\d+\n`));
  },
  getTile: async ({ client }) => {
    const { tree_size: size } = await client.getLogStatus();
    expect(await client.getTile(`0/000.p/${size}`)).toHaveLength(32 * size);
    expect(await client.getTile(`entries/000.p/${size}`)).toHaveLength(34 * size);
  },
  quoteKey: ({ client }) => client.quoteKey({ tier: 'pro', contact: 'example.com' }),
  getKeyOrder: async ({ client }) => {
    const { order_id } = await client.quoteKey({ tier: 'scale', months: 12, contact: 'example.com' });
    expect(await client.getKeyOrder(order_id)).toMatchObject({ order_id, tier: 'scale', state: 'open' });
  },
  buyKey: async (context) => {
    await expect(context.agent.buyKey({ tier: 'pro' })).rejects.toMatchObject({
      code: 'payment_required',
      status: 402,
      problem: { payment: { accepts: [{ amount: '29000000' }] } },
    });
    expect((await context.payer.buyKey({ tier: 'pro' })).key).toMatch(/^k_pro_/);
  },
  getBalance: ({ agent }) => agent.getBalance(),
  getBalanceStatement: async ({ agent, keyId, client }) => {
    const { lines } = await agent.getBalanceStatement({ after: 0, limit: 1 });
    expect(lines).toHaveLength(1);
    expect((await client.getBalanceStatement()).account).toContain(keyId);
  },
  quoteTopUp: ({ agent }) => agent.quoteTopUp({ amount: '25' }),
  topUpBalance: async (context) => {
    const { account, credited } = await context.payer.topUpBalance({ amount: '1.50', account: context.did });
    expect([account, credited.usdc]).toEqual([`caller:${context.did}`, '1.500000000']);
  },
  requestWithdrawal: ({ agent }) => agent.requestWithdrawal({ address: ISSUE.recipient, amount: '2.5' }),
  listWithdrawals: async ({ agent }) => {
    const { data, withdrawals, next_cursor } = await agent.listWithdrawals({ limit: 5 });
    expect(data).toMatchObject([{ state: 'waiting', amount: { usdc: '2.500000000' } }]);
    expect([withdrawals, next_cursor]).toEqual([data, null]);
  },
  listKeys: async ({ client }) => {
    const { data } = await client.listKeys({ limit: 1 });
    expect(data).toHaveLength(1);
  },
  getLimits: async (context) => {
    const { data } = await context.client.getLimits();
    expect(data).toMatchObject([{ spender: context.keyId, limits: {} }]);
    expect((await context.agent.getLimits()).data).toMatchObject([{ spender: context.did }]);
  },
  createKey: async ({ client }) => {
    const { id, key } = await client.createKey({ name: 'nightly', limits: { day_usdc: '5' } });
    expect([id, key]).toEqual([expect.stringMatching(/^key_/), expect.stringMatching(/^k_/)]);
  },
  updateKey: async ({ client }) => {
    const { id } = await client.createKey({ limits: { day_usdc: '5' } });
    const { limits } = await client.updateKey(id, { limits: { day_usdc: null, requests_per_minute: 9 } });
    expect(limits).toEqual({ requests_per_minute: 9 });
  },
  revokeKey: async ({ agent }) => {
    const { id } = await agent.createKey({ expiresAt: '2100-01-01T00:00:00Z' });
    expect((await agent.revokeKey(id)).revoked_at).not.toBeNull();
  },
  rotateKey: async ({ agent }) => {
    const { id, key } = await agent.createKey();
    expect((await agent.rotateKey(id, { graceSeconds: 60 })).key).not.toBe(key);
  },
  getComputeDescriptor: ({ client }) => client.getComputeDescriptor(),
  listModels: ({ client }) => client.listModels(),
  getModel: async ({ client }) => {
    expect(await client.getModel('local/extract-1')).toMatchObject({ id: 'local/extract-1' });
  },
  estimateChatCompletion: ({ client }) => client.estimateChatCompletion(CHAT),
  getUsage: async ({ client, keyId, agent, did }) => {
    expect(await client.getUsage(keyId, { from: '2026-01-01' })).toBeDefined();
    return agent.getUsage(did);
  },
  rateCall: async ({ client }) => {
    const openai = new OpenAI(client.clientOptions());
    const { response } = await openai.chat.completions
      .create({ model: 'local/extract-1', ...CHAT })
      .withResponse();
    const receiptId = response.headers.get('x-receipt-id') ?? '';
    const rate = () => client.rateCall({ receiptId, label: 'good', comment: 'Right.' });
    expect(await vi.waitFor(rate, 60_000)).toMatchObject({
      model: 'local/extract-1',
      score: 100,
    });
  },
  getCompressionStats: ({ client }) => client.getCompressionStats(),
  getBenchmark: async ({ client }) => {
    expect(await verify(await client.getBenchmark(), { now: Date.now() })).toMatchObject({ valid: true });
  },
  getSemanticBenchmark: ({ client }) => client.getSemanticBenchmark(),
  getTemporalBenchmark: ({ client }) => client.getTemporalBenchmark(),
  getModalityBenchmark: ({ client }) => client.getModalityBenchmark(),
  registerMember: ({ client, did }) => client.registerMember({ did, handle: 'quipu' }),
  getLeaderboard: async ({ client, did }) => {
    expect((await client.getLeaderboard({ limit: 5 })).members).toMatchObject([{ did, handle: 'quipu' }]);
  },
  verifyMember: async ({ client, did }) => {
    expect(await client.verifyMember(did)).toMatchObject({ registered: true });
    expect(await client.verifyMember('did:web:nobody.example')).toMatchObject({ registered: false });
  },
  emitTenantReceipt: async ({ tenant, tenantId }) => {
    const { receipt } = await tenant.emitTenantReceipt(tenantId, { profile: 'pq', input: 'x' });
    expect(receipt.receipt_profile).toBe('pq');
  },
  exportEvidence: async ({ tenant, tenantId }) => {
    const bundle = await tenant.exportEvidence(tenantId, { from: '2026-01-01' });
    expect([...bundle.subarray(0, 2)]).toEqual([0x50, 0x4b]);
  },
  getEvidenceManifest: async ({ tenant, tenantId }) => {
    const { manifest, text } = await tenant.getEvidenceManifest(tenantId);
    expect(JSON.parse(text)).toEqual(manifest);
    expect(manifest.tenant).toBe(tenantId);
  },
  listEvidenceExports: async ({ tenant, tenantId }) => {
    expect((await tenant.listEvidenceExports(tenantId)).exports).toHaveLength(2);
  },
  normalizePolicy: ({ partner }) =>
    partner.normalizePolicy({
      jurisdiction: 'eu',
      policy: [{ concept: 'retention', days: 400 }],
      targets: ['uk'],
    }),
  getCrosswalk: ({ client }) => client.getCrosswalk(),
  qualifyOrigin: ({ partner }) => partner.qualifyOrigin({ origin: 'http://127.0.0.1:1' }),
  clientOptions: async ({ client, agent }) => {
    for (const caller of [client, agent]) {
      const openai = new OpenAI(caller.clientOptions());
      const answer = await openai.chat.completions.create({ model: 'local/extract-1', ...CHAT });
      expect(answer.choices[0]?.message.content).toEqual(expect.any(String));
      const anthropic = new Anthropic(caller.clientOptions());
      const message = await anthropic.messages.create({ model: 'local/extract-1', max_tokens: 100, ...CHAT });
      expect(message.content).toMatchObject([{ type: 'text', text: expect.any(String) }]);
    }
  },
};

test('a payment whose answer is lost is not made again by the retry', async () => {
  const { did, agent, url } = given;
  const pay = payer('alice', service.services.money?.rpcUrl ?? '').fetch;
  let lost = 0;
  const client = createClient({
    baseUrl: service.config.apiUrl,
    fetch: recorded(url, async (...request) => {
      const response = await pay(...request);
      lost += 1;
      if (lost === 1) throw new TypeError('the connection broke');
      return response;
    }),
  });
  const before = await agent.getBalance();
  await client.topUpBalance({ amount: '1.25', account: did });
  const after = await agent.getBalance();
  expect(lost).toBe(2);
  expect(BigInt(after.balance.nano) - BigInt(before.balance.nano)).toBe(1_250_000_000n);
});

describe('each method of the client', () => {
  test.each(Object.entries(CALLS))('%s', async (_, call) => {
    answered = 0;
    await call(given);
    expect(answered).toBeGreaterThan(0);
  });

  test('is called here', () => {
    expect(Object.keys(CALLS).toSorted()).toEqual(Object.keys(given.client).toSorted());
  });
});

test('every operation of the document has a method, or a reason to have none', () => {
  const lacking = operations
    .filter(({ path }) => !OF_OTHER_CLIENTS.test(path))
    .map(({ operationId }) => operationId)
    .filter((operationId) => !reached.has(operationId) && !(operationId in WITHOUT_METHOD));
  expect(lacking).toEqual([]);
  const known = new Set(operations.map(({ operationId }) => operationId));
  expect(Object.keys(WITHOUT_METHOD).filter((operationId) => !known.has(operationId))).toEqual([]);
});

/** Makes a call whose content is kept, and resolves to its id. */
async function keptCall(client: Client): Promise<string> {
  const openai = new OpenAI(client.clientOptions());
  const kept = { model: 'local/extract-1', ...CHAT, svc: { keep: true } };
  const { response } = await openai.chat.completions.create(kept).withResponse();
  return response.headers.get('x-receipt-id') ?? '';
}

test('docs/sdk.md lists each method, under the same name in both languages', () => {
  const page = readFileSync(new URL('../docs/sdk.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| .* \| `(\w+)` +\| `(\w+)` +\|$/gm)].map(
    ([, one = '', other = '']) => [one, other],
  );
  expect(new Set(listed.map(([name]) => name))).toEqual(new Set(Object.keys(given.client)));
  for (const [name, inPython] of listed)
    expect(inPython).toBe(name?.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
});

test('the types of the documents are those of the OpenAPI document', () => {
  const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'));
  const types = execFileSync(
    process.execPath,
    [biome, 'format', `--stdin-file-path=${fileURLToPath(TYPES)}`],
    {
      input: sdkTypes(document),
      encoding: 'utf8',
    },
  );
  if (process.env['TALLY_WRITE_SDK_TYPES'] === '1') writeFileSync(TYPES, types);
  expect(readFileSync(TYPES, 'utf8'), 'run this test with TALLY_WRITE_SDK_TYPES=1').toBe(types);
});
