import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  anchoredHash,
  createSigner,
  generateSecretKey,
  type JsonObject,
  type JsonValue,
  type Signer,
  signRequest,
  utf8,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { creditCaller } from '../packages/ledger/src/credit.ts';
import { newOperator } from '../packages/server/test/operator-key.ts';
import { apiKey, runningClock, startTestService, type TestService } from '../packages/server/test/service.ts';
import { freshSigner, registration } from '../packages/server/test/statements.ts';
import { newTenant, type TestTenant } from '../packages/server/test/tenant.ts';
import { compileReceiptSchemas } from '../scripts/openapi/receipt-schemas.ts';
import { isJsonType, jsonAnswers, type Operation, operationsOf, validatorOf } from './openapi-document.ts';
import { payer } from './payer.ts';

/**
 * The OpenAPI document of a running service, and real answers beside it. `TALLY_RECORD_EXAMPLES=1` writes these into the
 * document as its examples.
 */
const EXAMPLES = new URL('../packages/server/src/http/answer-examples.json', import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));

let service: TestService;
let url: string;
let document: JsonObject;
let operations: ReadonlyMap<string, Operation>;
let context: Context;

beforeAll(async () => {
  service = await startTestService({
    clock: runningClock(),
    env: {
      TALLY_DEVNET: 'on',
      TALLY_PAYMENTS: 'x402',
      TALLY_X402_WAIT_SECONDS: '5',
      TALLY_ANCHOR_PERIOD_SECONDS: '1',
      TALLY_KEEP_CONTENT_DAYS: '7',
    },
  });
  url = await service.listen();
  document = (await (await fetch(`${url}/openapi.json`)).json()) as JsonObject;
  operations = new Map(operationsOf(document).map((one) => [one.operationId, one]));
  context = await openContext();
});
afterAll(() => service.close());

type Headers = Readonly<Record<string, string>>;

/** Who asks in the exchanges below, and what is there for them. */
interface Context {
  readonly key: Headers;
  readonly partner: Headers;
  readonly operator: Headers;
  readonly tenant: TestTenant;
  readonly signer: Signer;
  readonly pay: typeof fetch;
  readonly receipt: JsonObject & { readonly receipt_id: string };
  readonly order: string;
}

async function openContext(): Promise<Context> {
  const { store, money } = service.services;
  const signer = await createSigner(generateSecretKey());
  const credit = (caller: string) =>
    creditCaller(store, {
      caller,
      amount: 50_000_000_000n,
      reference: caller,
      memo: 'top-up',
      now: service.clock(),
    });
  const key = await apiKey(service, 'enterprise');
  for await (const { id } of store.apiKeys.list()) await credit(id);
  await credit(signer.keyId);
  const made = async (path: string, body: JsonObject) =>
    (await (await fetch(url + path, { ...json(body), method: 'POST' })).json()) as JsonObject;
  return {
    key,
    partner: await apiKey(service, 'partner'),
    operator: (await newOperator(service)).headers,
    tenant: await newTenant(service),
    signer,
    pay: payer('alice', money?.rpcUrl ?? '').fetch,
    receipt: (await made('/v1/receipt/free', { input: 'x', purpose: 'p' })) as Context['receipt'],
    order: (await made('/v1/anchor/keys/quote', { tier: 'pro', contact: 'example.com' }))[
      'order_id'
    ] as string,
  };
}

function json(body: JsonValue): { headers: Headers; body: string } {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** What is asked of an operation; its body is the documented example unless there is another one. */
interface Ask {
  readonly params?: Headers;
  readonly query?: string;
  readonly body?: JsonValue;
  readonly headers?: Headers;
  /** The DID that signs the request. */
  readonly signer?: Signer;
  readonly fetch?: typeof fetch;
  readonly status?: number;
}

const HASH = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';
const asJson = { accept: 'application/json' };
const withKey = ({ key }: Context): Ask => ({ headers: key });
const asTenant = ({ tenant }: Context): Ask => ({ headers: tenant.headers, params: { id: tenant.id } });
const asPartner = ({ partner }: Context): Ask => ({ headers: partner });
const signed = ({ signer }: Context): Ask => ({ signer });
const asOperator = ({ operator }: Context): Ask => ({ headers: operator });
const plain = (): Ask => ({});
const changeOfKey = async (context: Context): Promise<Ask> => {
  const { json } = await exchange('createKey', { headers: context.key, status: 201 });
  return { headers: context.key, params: { id: json['id'] as string } };
};
/** The receipt behind the opening of the session in the example. */
const nextOfSession = async ({ key }: Context): Promise<Ask> => {
  const { json: opening } = await exchange('openSession', { headers: key });
  const media = operations.get('addSessionReceipt')?.requestBody?.content['application/json'];
  const example = media?.example as JsonObject & { call: JsonObject };
  const { id, seq } = example.call['session'] as Record<'id' | 'seq', string>;
  const session = { id, seq, prev: `sha256:${anchoredHash(opening)}` };
  return {
    headers: key,
    params: { id },
    body: { ...example, call: { ...example.call, session } },
    status: 201,
  };
};

/** A webhook of the key. */
async function webhookOf({ key }: Context): Promise<{ readonly id: string }> {
  const { json: listed } = await exchange('listWebhooks', { headers: key });
  const [webhook] = listed['data'] as { id: string }[];
  return { id: webhook?.id ?? '' };
}

/** A request to correct a receipt of the key by another one. */
async function corrected(headers: Record<string, string>) {
  const mint = async (): Promise<string> =>
    ((await exchange('mintReceipt', { headers })).json as { receipt_id: string }).receipt_id;
  return { corrects: await mint(), correction: await mint(), reason: 'Two units were counted twice.' };
}

/** At least one request to each operation with a JSON answer, in an order in which what is asked for is there. */
const EXCHANGES: Readonly<Record<string, (context: Context) => Ask | Promise<Ask>>> = {
  mintReceipt: plain,
  emitReceipt: withKey,
  openSession: ({ key }) => ({ headers: key, status: 201 }),
  addSessionReceipt: nextOfSession,
  getReceipt: ({ receipt }) => ({ params: { id: receipt.receipt_id } }),
  correctReceipt: async ({ key }) => ({ headers: key, body: await corrected(key) }),
  getCorrections: async ({ key }) => {
    const body = await corrected(key);
    await exchange('correctReceipt', { headers: key, body });
    return { params: { id: body.corrects } };
  },
  emitTenantReceipt: asTenant,
  exportEvidence: ({ tenant }) => ({
    headers: { ...tenant.headers, ...asJson },
    params: { id: tenant.id },
  }),
  listEvidenceExports: asTenant,
  listTenantReceipts: asTenant,
  countTenantReceipts: asTenant,
  mintMeteringReceipt: withKey,
  verifyReceipt: ({ receipt }) => ({ body: receipt }),
  verifyReceipts: ({ receipt }) => ({ body: { receipts: [receipt] } }),
  anchorHash: withKey,
  anchorHashes: withKey,
  getAnchor: async (context) => {
    const { json } = await exchange('anchorHash', withKey(context));
    return { params: { anchor_ref: json['anchor_ref'] as string } };
  },
  getAnchorByHash: () => ({ params: { hash: HASH } }),
  listCalls: async (context) => {
    await listedCall(context);
    return withKey(context);
  },
  countCalls: withKey,
  getCallContent: async (context) => ({
    ...withKey(context),
    params: { id: await keptCall(context) },
  }),
  countReceipts: withKey,
  countAnchors: withKey,
  getCall: async (context) => ({ ...withKey(context), params: { id: await listedCall(context) } }),
  listReceipts: withKey,
  signStreamHead: withKey,
  readStream: withKey,
  listAnchors: withKey,
  listSessions: async (context) => {
    await listedCall(context);
    return withKey(context);
  },
  quoteKey: plain,
  getKeyOrder: ({ order }) => ({ params: { order_id: order } }),
  getBalance: signed,
  getBalanceStatement: signed,
  listBalanceEntries: signed,
  quoteTopUp: signed,
  requestWithdrawal: signed,
  listWithdrawals: signed,
  buyKey: ({ pay }) => ({ fetch: pay }),
  topUpBalance: ({ pay }) => ({ fetch: pay }),
  listKeys: withKey,
  getLimits: withKey,
  createKey: (context) => ({ ...withKey(context), status: 201 }),
  updateKey: changeOfKey,
  revokeKey: changeOfKey,
  rotateKey: changeOfKey,
  getLogStatus: plain,
  listPostings: plain,
  countPostings: plain,
  listLeaves: plain,
  countLeaves: plain,
  getPricing: plain,
  selectProfile: plain,
  submitIssuerStatement: async () => {
    const statement = await registration('did:svc:acme', await freshSigner(), service.clock());
    return { body: statement as unknown as JsonObject, status: 201 };
  },
  getIssuer: () => ({ params: { file: 'did:svc:local.json' } }),
  getTrustBundle: plain,
  getTrustVersion: () => ({ params: { file: '1.json' } }),
  getDidDocument: plain,
  getComputeDescriptor: plain,
  createChatCompletion: withKey,
  createCompletion: withKey,
  createMessage: withKey,
  createMessageV1: withKey,
  countMessageTokens: withKey,
  countMessageTokensV1: withKey,
  listAnthropicModels: withKey,
  getAnthropicModel: ({ key }) => ({ headers: key, params: { id: 'local/extract-1' } }),
  createResponse: withKey,
  createEmbeddings: withKey,
  listModels: withKey,
  getModel: ({ key }) => ({ headers: key, params: { id: 'local/extract-1' } }),
  estimateChatCompletion: withKey,
  getUsage: async (context) => {
    const { signer } = context;
    await exchange('createChatCompletion', { signer });
    return { signer, params: { did: signer.keyId } };
  },
  rateCall: async (context) => {
    const { json } = await exchange('createChatCompletion', withKey(context));
    const { svc } = json as { svc: { receipt: { receipt_id: string } } };
    const ask = { headers: context.key, body: { receipt_id: svc.receipt.receipt_id, score: 80 } };
    // Another process takes a rating a second after the answer.
    await expect.poll(async () => (await exchange('rateCall', ask)).status).toBe(200);
    return ask;
  },
  getCompressionStats: withKey,
  getBenchmark: plain,
  getSemanticBenchmark: plain,
  getTemporalBenchmark: plain,
  getModalityBenchmark: plain,
  registerMember: plain,
  getLeaderboard: withKey,
  verifyMember: ({ key }) => ({
    headers: key,
    params: { did: 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp' },
  }),
  normalizePolicy: asPartner,
  getCrosswalk: plain,
  qualifyOrigin: ({ partner }) => ({ headers: partner, body: { origin: url } }),
  createWebhook: ({ key }) => ({ headers: key, status: 201 }),
  listWebhooks: withKey,
  updateWebhook: async (context) => ({ headers: context.key, params: await webhookOf(context) }),
  testWebhook: async (context) => ({ headers: context.key, params: await webhookOf(context), status: 202 }),
  rotateWebhookSecret: async (context) => ({ headers: context.key, params: await webhookOf(context) }),
  repeatWebhookDelivery: async (context) => {
    const { id } = await webhookOf(context);
    const { json: listed } = await exchange('listWebhookDeliveries', {
      headers: context.key,
      params: { id },
    });
    const [first] = listed['data'] as { id: string }[];
    return { headers: context.key, params: { id, delivery: first?.id ?? '' }, status: 202 };
  },
  listWebhookDeliveries: async (context) => ({ headers: context.key, params: await webhookOf(context) }),
  callMcp: () => ({ headers: { accept: 'application/json, text/event-stream' } }),
  listPayableResources: plain,
  getLandingPage: () => ({ headers: asJson }),
  getStatus: plain,
  getStatusHistory: plain,
  getOperatorOverview: asOperator,
  restProvider: ({ operator }) => ({ headers: operator, params: { id: 'local' } }),
  resumeProvider: ({ operator }) => ({ headers: operator, params: { id: 'local' } }),
  restModel: ({ operator }) => ({ headers: operator, params: { id: 'local%2Fembed-512' } }),
  resumeModel: ({ operator }) => ({ headers: operator, params: { id: 'local%2Fembed-512' } }),
  getHealth: plain,
  getReadiness: plain,
  getOpenApiDocument: plain,
};

/** Further forms that the answers of some of them have. */
const VARIANTS: readonly (readonly [string, (context: Context) => Ask])[] = [
  ['emitReceipt', ({ key }) => ({ headers: key, query: 'profile=nano', body: { input: 'x' } })],
  ['emitReceipt', ({ key }) => ({ headers: key, query: 'profile=pq' })],
  ['verifyReceipts', ({ receipt }) => ({ body: receipt })],
  ['createChatCompletion', ({ signer }) => ({ signer, body: { ...TEXT, n: 2, svc: EXTRACTIVE } })],
  ['createEmbeddings', ({ signer }) => ({ signer, body: { input: ['a', 'b'], encoding_format: 'base64' } })],
  ['verifyMember', ({ key }) => ({ headers: key, params: { did: 'did:web:nobody.example' } })],
  ['getCompressionStats', ({ signer }) => ({ signer })],
  ['normalizePolicy', ({ partner }) => ({ headers: partner, body: EACH_OUTCOME })],
  ['qualifyOrigin', ({ partner }) => ({ headers: partner, body: { origin: 'http://127.0.0.1:1' } })],
];

const TEXT = {
  messages: [
    { role: 'user', content: `${'The tally stick is split in two. '.repeat(80)}Who holds the stock?` },
  ],
};
const EXTRACTIVE = { compression: 'extractive', budget: 0.3 };

/** Has each outcome, and something unknown. */
const EACH_OUTCOME = {
  jurisdiction: 'eu',
  policy: [
    { concept: 'retention', days: 400, color: 'red' },
    { concept: 'purpose', basis: 'contract' },
    { concept: 'children', consent_age: 13 },
  ],
  targets: ['eu', 'us', 'in', 'us-ca'],
};

interface Exchanged {
  readonly operation: Operation;
  readonly status: number;
  readonly type: string;
  readonly json: JsonObject;
}

function operationOf(operationId: string): Operation {
  const operation = operations.get(operationId);
  if (operation === undefined) throw new Error(`There is no operation ${operationId}.`);
  return operation;
}

let nonces = 0;

/** Makes a call with the key, and resolves to its id once it is listed. */
async function listedCall(context: Context, ask: Partial<Ask> = {}): Promise<string> {
  const { json } = await exchange('createChatCompletion', { ...withKey(context), ...ask });
  const { receipt } = json['svc'] as { receipt: { receipt_id: string } };
  const address = `${url}/v1/compute/calls/${receipt.receipt_id}`;
  await expect.poll(async () => (await fetch(address, { headers: context.key })).status).toBe(200);
  return receipt.receipt_id;
}

/** Makes a call whose content is kept, and resolves to its id. */
function keptCall(context: Context): Promise<string> {
  const messages = [{ role: 'user', content: 'The order came. Who has it?' }];
  return listedCall(context, { body: { model: 'local/extract-1', messages, svc: { keep: true } } });
}

async function exchange(operationId: string, ask: Ask): Promise<Exchanged> {
  const operation = operationOf(operationId);
  const { method, path, requestBody } = operation;
  const query = ask.query === undefined ? '' : `?${ask.query}`;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ask.params?.[name] ?? '') + query;
  const body = ask.body ?? requestBody?.content['application/json']?.example;
  const sent: Partial<ReturnType<typeof json>> = body === undefined ? {} : json(body);
  nonces += 1;
  const proof =
    ask.signer &&
    (await signRequest(
      {
        method: method.toUpperCase(),
        url: new URL(service.config.apiUrl + filled),
        body: body === undefined ? null : utf8(JSON.stringify(body)),
      },
      { did: ask.signer.keyId, signer: ask.signer },
      { created: Math.floor(service.clock() / 1000), nonce: `n${nonces}` },
    ));
  const headers = { 'x-agent-did': 'did:web:agent.example', ...sent.headers, ...ask.headers, ...proof };
  const response = await (ask.fetch ?? fetch)(url + filled, {
    ...sent,
    method: method.toUpperCase(),
    headers,
  });
  return replyOf(operation, response);
}

async function replyOf(operation: Operation, response: Response): Promise<Exchanged> {
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const text = await response.text();
  const data = type === 'text/event-stream' ? (/^data: (\{.*)$/m.exec(text)?.[1] ?? 'null') : text;
  return { operation, status: response.status, type, json: JSON.parse(data) as JsonObject };
}

/** Fails unless status and media type are documented, and the body fits the schema and has no member beside it. */
function expectDocumented({ operation, status, type, json }: Exchanged): void {
  const { content = {} } = operation.responses[status] ?? {};
  const media = content[type === 'text/event-stream' ? 'application/json' : type];
  expect(media, `${operation.operationId} ${status} ${type}: ${JSON.stringify(json)}`).toBeDefined();
  const validate = validatorOf(document, media?.schema ?? {});
  expect(
    validate(json),
    `${operation.operationId} ${JSON.stringify(validate.errors, null, 1)}\n${JSON.stringify(json).slice(0, 2000)}`,
  ).toBe(true);
}

describe('the document', () => {
  it('has nothing that a linter finds', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tally-openapi-')), 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    const cli = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const args = [cli, 'lint', '--config', join(root, 'redocly.yaml'), '--format', 'json', file];
    const { totals, problems } = JSON.parse(lint(args, env)) as { totals: JsonObject; problems: JsonValue };
    expect(problems).toEqual([]);
    expect(totals).toMatchObject({ errors: 0, warnings: 0 });
  });

  it('describes every member, and gives an example of every JSON body and answer', () => {
    const lacking = [...operations.values()].flatMap((operation) => {
      const { operationId, requestBody } = operation;
      const sent = Object.values(requestBody?.content ?? {}).some(
        ({ schema, example }) => example === undefined && schema['format'] !== 'binary',
      );
      const answers = jsonAnswers(operation);
      const answered = answers.length > 0 && answers.every(({ media }) => media.example === undefined);
      return [
        ...(sent ? [`${operationId}: a request`] : []),
        ...(answered && operationId !== 'getOpenApiDocument' ? [`${operationId}: an answer`] : []),
      ];
    });
    expect(lacking).toEqual([]);
    expect(undescribed()).toEqual([]);
  });

  it('has the receipts as spec/schemas defines them', async () => {
    const { default: compiled } = await import('../packages/server/src/http/receipt-schemas.json', {
      with: { type: 'json' },
    });
    expect(compiled, 'run: node scripts/openapi-schemas.ts').toEqual(JSON.parse(compileReceiptSchemas()));
  });
});

/** A linter ends with 1 where it finds something. */
function lint(args: string[], env: NodeJS.ProcessEnv): string {
  try {
    return execFileSync(process.execPath, args, {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** Members without a description, but for those of receipts, which spec/receipts.md describes. */
function undescribed(): string[] {
  const { schemas } = document['components'] as Record<string, Record<string, JsonObject>>;
  const found: string[] = [];
  const look = (value: JsonValue | undefined, path: string): void => {
    if (Array.isArray(value)) for (const one of value) look(one, path);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [name, member] of Object.entries((value['properties'] ?? {}) as Record<string, JsonObject>)) {
      if (!isDescribed(member, schemas ?? {})) found.push(`${path}.${name}`);
      look(member, `${path}.${name}`);
    }
    for (const name of ['items', 'anyOf', 'oneOf', 'allOf', 'additionalProperties']) look(value[name], path);
  };
  for (const [name, schema] of Object.entries(schemas ?? {}))
    if (!/^.+Receipt$/.test(name)) look(schema, name);
  for (const { operationId, requestBody, responses } of operations.values()) {
    for (const { schema } of Object.values(requestBody?.content ?? {})) look(schema, operationId);
    for (const { content = {} } of Object.values(responses))
      for (const [type, { schema }] of Object.entries(content))
        if (type !== 'application/problem+json') look(schema, operationId);
  }
  return found;
}

function isDescribed(member: JsonObject, schemas: Readonly<Record<string, JsonObject>>): boolean {
  if ('description' in member) return true;
  const forms = (member['anyOf'] ?? [member]) as JsonObject[];
  return forms.some(
    ({ $ref }) => typeof $ref === 'string' && 'description' in (schemas[$ref.split('/').at(-1) ?? ''] ?? {}),
  );
}

describe('a real answer is what the document says', () => {
  const answers: Record<string, JsonValue> = {};

  it('of every operation with a JSON answer', () => {
    const withJson = [...operations.values()].filter((one) => jsonAnswers(one).length > 0);
    expect(Object.keys(EXCHANGES).toSorted()).toEqual(
      withJson.map(({ operationId }) => operationId).toSorted(),
    );
  });

  it.each(Object.keys(EXCHANGES))('%s', async (operationId) => {
    const ask = (await EXCHANGES[operationId]?.(context)) ?? {};
    const exchanged = await exchange(operationId, ask);
    expect(exchanged.status, JSON.stringify(exchanged.json)).toBe(ask.status ?? 200);
    expectDocumented(exchanged);
    if (operationId !== 'getOpenApiDocument') answers[operationId] = shortened(exchanged.json);
  });

  it.each(VARIANTS)('%s in another form', async (operationId, asked) => {
    const exchanged = await exchange(operationId, asked(context));
    expect(exchanged.status, JSON.stringify(exchanged.json)).toBe(200);
    expectDocumented(exchanged);
  });

  it('getAnchorByHash and getReceipt once they are anchored', async () => {
    const { json: receipt } = await exchange('emitReceipt', withKey(context));
    const { id } = receipt['receipt'] as { id: string };
    await exchange('anchorHash', withKey(context));
    await expect
      .poll(async () => (await exchange('getReceipt', { params: { id } })).json)
      .toHaveProperty('anchor');
    await expect
      .poll(async () => (await exchange('getAnchorByHash', { params: { hash: HASH } })).json)
      .toHaveProperty('merkle_path');
    const asks = { getReceipt: { params: { id } }, getAnchorByHash: { params: { hash: HASH } } };
    for (const [operationId, ask] of Object.entries(asks)) {
      const exchanged = await exchange(operationId, ask);
      expectDocumented(exchanged);
      answers[operationId] = exchanged.json;
    }
  });

  it('and may be kept as its example', () => {
    if (process.env['TALLY_RECORD_EXAMPLES'] !== '1') return;
    expect(Object.keys(answers)).toHaveLength(Object.keys(EXCHANGES).length - 1);
    writeFileSync(EXAMPLES, `${JSON.stringify(answers, null, 2)}\n`);
  });
});

/** A long answer with lists of at most two entries. */
function shortened(answer: JsonObject): JsonValue {
  const cut = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.slice(0, 2).map(cut);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one)]));
  };
  return JSON.stringify(answer).length > 3_000 ? cut(answer) : answer;
}

describe('a refusal is what the document says', () => {
  it('of a body that is no JSON, by every operation that takes one', async () => {
    const taking = [...operations.values()].filter(({ requestBody }) => requestBody !== undefined);
    expect(taking.length).toBeGreaterThan(15);
    const { key, partner, tenant } = context;
    for (const operation of taking) {
      const { operationId, path, method } = operation;
      const own = operationId.includes('Tenant') ? tenant.headers : key;
      const headers = /normalize|qualify/.test(operationId) ? partner : own;
      const filled = path.replace('{id}', tenant.id);
      const response = await fetch(url + filled, {
        method: method.toUpperCase(),
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          ...headers,
        },
        body: '{',
      });
      const reply = await replyOf(operation, response);
      expect(reply.status, `${operationId} ${JSON.stringify(reply.json)}`).toBeLessThan(500);
      expect(isJsonType(reply.type), operationId).toBe(true);
      expectDocumented(reply);
    }
  });

  it('of a caller whose key is not known, by every operation that asks for one', async () => {
    const asking = [...operations.values()].filter(({ responses }) => '401' in responses);
    expect(asking.length).toBeGreaterThan(20);
    for (const operation of asking) {
      const { method, path } = operation;
      const response = await fetch(url + path.replaceAll(/\{\w+\}/g, 'x'), {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer k_pro_${'0'.repeat(32)}`, 'content-type': 'application/json' },
        ...(method === 'get' ? {} : { body: '{}' }),
      });
      expectDocumented(await replyOf(operation, response));
    }
  });
});
