import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OperatorKeyWatch, revokeOperatorKey } from '../../callers/src/operator-keys.ts';
import { findModels } from '../src/status/models.ts';
import { MODEL, type Routed, startRouted } from './compute.ts';
import { newOperator, type TestOperator } from './operator-key.ts';
import { ALONE, apiKey, DATABASES, expectProblem, type TestService } from './service.ts';
import { newTenant } from './tenant.ts';

const OVERVIEW = '/v1/operator/overview';
const ROUTES = [
  ['GET', OVERVIEW],
  ['POST', '/v1/operator/providers/openai/rest'],
  ['POST', '/v1/operator/providers/openai/resume'],
  ['POST', `/v1/operator/models/${encodeURIComponent(MODEL)}/rest`],
  ['POST', `/v1/operator/models/${encodeURIComponent(MODEL)}/resume`],
] as const;

describe('who may not get in', () => {
  let routed: Routed;
  let service: TestService;
  beforeAll(async () => {
    routed = await startRouted();
    ({ service } = routed);
  });
  afterAll(() => routed.close());

  const ask = (method: string, path: string, headers: Record<string, string>) =>
    service.request(path, { method, headers: { ...headers, 'content-type': 'application/json' } });

  it.each(ROUTES)('%s %s refuses whoever has no operator key in force', async (method, path) => {
    const revoked = await newOperator(service);
    await revokeOperatorKey(service.services.store, revoked.id, service.clock());
    const tenant = await newTenant(service);
    const unknown = `Bearer k_op_${'a'.repeat(32)}`;
    const others: [
      Record<string, string>,
      'api_key_missing' | 'operator_only' | 'api_key_invalid' | 'api_key_revoked',
    ][] = [
      [{}, 'api_key_missing'],
      [{ authorization: 'Basic b3A6b3A=' }, 'api_key_missing'],
      [await apiKey(service, 'enterprise'), 'operator_only'],
      [await apiKey(service, 'partner'), 'operator_only'],
      [tenant.headers, 'operator_only'],
      [{ authorization: unknown }, 'api_key_invalid'],
      [{ authorization: 'Bearer anything' }, 'api_key_invalid'],
      [revoked.headers, 'api_key_revoked'],
    ];
    for (const [headers, code] of others) {
      const reply = await ask(method, path, headers);
      expectProblem(reply, code);
      expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
    const model = service.services.compute.pipeline.catalogue.find(MODEL);
    expect(model && service.services.compute.pipeline.health.available(model)).toBe(true);
    expect(await service.services.store.rests.ordered()).toEqual([]);
  });

  it('opens nothing of callers’ with an operator key', async () => {
    const { headers } = await newOperator(service);
    for (const path of ['/v1/balance', '/v1/receipts', '/v1/keys'])
      expectProblem(await service.get(path, headers), 'api_key_invalid');
    expectProblem(await service.post('/v1/anchor', { hash: 'a' }, headers), 'api_key_invalid');
  });

  it('writes to the log which keys are made and revoked, once and by their ids', async () => {
    const lines: unknown[] = [];
    const note = (facts: unknown, message?: string): void => void lines.push([facts, message]);
    const { store } = service.services;
    const watch = new OperatorKeyWatch(store, { info: note, warn: note });
    const before = await newOperator(service);
    await watch.look();
    expect(lines).toEqual([
      [{ operatorKeys: expect.arrayContaining([before.id]) as unknown }, 'keys of operators are in force'],
    ]);
    const { id, headers } = await newOperator(service);
    await watch.look();
    await revokeOperatorKey(store, id, service.clock());
    await watch.look();
    await watch.look();
    expect(lines.slice(1)).toEqual([
      [{ operatorKey: id }, 'a key of an operator was made'],
      [{ operatorKey: id }, 'a key of an operator was revoked'],
    ]);
    expect(JSON.stringify(lines)).not.toContain(headers.authorization.slice('Bearer '.length));
  });

  it('keeps no operator key, only its hash', async () => {
    const { id, headers } = await newOperator(service);
    const rows = await service.services.store.operatorKeys.list();
    expect(rows.map((row) => row.id)).toContain(id);
    expect(JSON.stringify(rows)).not.toContain(headers.authorization.slice('Bearer '.length));
  });
});

// It looks at each of the two processes.
describe.runIf(ALONE).each(DATABASES)('the operator, at two services on one database, %s', (database) => {
  let one: Routed;
  let other: Routed;
  let headers: TestOperator['headers'];
  let keyId: string;
  beforeAll(async () => {
    one = await startRouted({ database });
    const { database: shared, keyring, dataDir } = one.service.config;
    other = await startRouted({
      env: {
        TALLY_DATA_DIR: dataDir,
        TALLY_KEYRING: keyring.path,
        ...(shared.kind === 'postgres' && { TALLY_DATABASE_URL: shared.url }),
      },
    });
    ({ headers, id: keyId } = await newOperator(one.service));
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  const availableAt = ({ service }: Routed): boolean => {
    const { catalogue, health } = service.services.compute.pipeline;
    const model = catalogue.find(MODEL);
    if (model === null) throw new Error('The catalogue has the model.');
    return health.available(model);
  };
  const untilAvailable = (routed: Routed, expected: boolean): Promise<unknown> =>
    vi.waitFor(() => expect(availableAt(routed)).toBe(expected), { timeout: 60_000, interval: 20 });
  const modelPath = `/v1/operator/models/${encodeURIComponent(MODEL)}`;
  const modelAt = async (routed: Routed) => {
    const { models } = (await routed.service.get(OVERVIEW, headers)).json as unknown as {
      models: { id: string; rest: { by: string } | null; calls: number; error_rate: number | null }[];
    };
    return models.find(({ id }) => id === MODEL);
  };

  it('rests a model at the one, which the other then does not call, and resumes it there', async () => {
    const logged = vi.spyOn(one.service.services.logger, 'warn');
    const rested = await one.service.post(`${modelPath}/rest`, { seconds: 3_600 }, headers);
    expect(rested.json).toEqual({ models: [MODEL], until: expect.stringMatching(/Z$/) });
    expect(rested.headers.get('cache-control')).toBe('private, no-store');
    // The answer shows it before the process has heard of it.
    expect(await modelAt(one)).toMatchObject({ rest: { by: 'operator' } });
    expect(logged).toHaveBeenCalledWith(
      { operator: keyId, model: MODEL, models: [MODEL], seconds: 3_600 },
      'an operator gave models a rest',
    );
    await untilAvailable(other, false);
    const { providers } = findModels(other.service.services.compute.pipeline);
    expect(providers.find(({ id }) => id === 'openai')).toMatchObject({ state: 'unknown' });
    const asked = other.upstream.requests.length;
    const refused = await other.chat();
    expect([refused.status, refused.json['code']]).toEqual([503, 'no_model_available']);
    expect(other.upstream.requests).toHaveLength(asked);
    const resumed = await other.service.post(`${modelPath}/resume`, '', headers);
    expect(resumed.json).toEqual({ models: [MODEL] });
    await untilAvailable(one, true);
    await untilAvailable(other, true);
    expect((await one.chat()).status).toBe(200);
    expect(await modelAt(one)).toMatchObject({ rest: null, calls: 1, error_rate: 0 });
  });

  it('resumes what rests because its provider failed, in the process that saw it and in the other', async () => {
    one.upstream.always({ fault: { kind: 'status', status: 429, retryAfter: '3600' } });
    expect((await one.chat()).status).toBe(429);
    await untilAvailable(other, false);
    expect(await modelAt(other)).toMatchObject({ rest: { by: 'failures' } });
    await other.service.post('/v1/operator/providers/openai/resume', '', headers);
    await untilAvailable(one, true);
    await untilAvailable(other, true);
  });

  it('rests all models of a provider', async () => {
    const { json } = await one.service.post('/v1/operator/providers/openai/rest', { seconds: 60 }, headers);
    const ids = one.service.services.compute.pipeline.catalogue.models.flatMap(({ id, provider }) =>
      provider === 'openai' ? id : [],
    );
    expect(json['models']).toEqual(ids);
    await untilAvailable(other, false);
    const { providers } = (await other.service.get(OVERVIEW, headers)).json as unknown as {
      providers: { id: string; models: number; resting: number; rest: unknown }[];
    };
    expect(providers.find(({ id }) => id === 'openai')).toMatchObject({
      state: 'down',
      code: 'rested_by_operator',
      models: ids.length,
      resting: ids.length,
      rest: { by: 'operator' },
    });
    await one.service.post('/v1/operator/providers/openai/resume', '', headers);
  });

  it('names what is wrong with an order', async () => {
    const rest = (path: string, body: unknown) => one.service.post(path, body, headers);
    expectProblem(await rest('/v1/operator/providers/nobody/rest', { seconds: 1 }), 'not_found', 'id');
    expectProblem(await rest('/v1/operator/models/a%2Fb/resume', ''), 'model_not_found', 'id');
    for (const seconds of [0, 604_801, 1.5, '60'])
      expectProblem(await rest(`${modelPath}/rest`, { seconds }), 'invalid_field', 'seconds');
    expectProblem(await rest(`${modelPath}/rest`, {}), 'missing_field', 'seconds');
  });

  it('sees how the service is, and nothing of what callers send', async () => {
    const caller = await apiKey(one.service, 'enterprise');
    const secretText = `a secret prompt ${randomUUID()}`;
    one.upstream.always({});
    await one.chat({ messages: [{ role: 'user', content: secretText }] });
    const before = (await one.service.get(OVERVIEW, headers)).json as { webhooks: { webhooks: number } };
    const hook = { url: 'https://hooks.example/a-secret-path', events: ['key.revoked'] };
    expect((await one.service.post('/v1/webhooks', hook, caller)).status).toBe(201);
    const { json, text } = await one.service.get(OVERVIEW, headers);
    for (const secret of [
      secretText,
      'hooks.example',
      'a-secret-path',
      'sk-operator-secret',
      caller.authorization,
    ])
      expect(text).not.toContain(secret);
    expect(json).toMatchObject({
      service: { did: 'did:svc:local', mode: 'development', database, processes: 2 },
      health: { status: 'ok', checks: { store: 'ok', log: 'ok' } },
      webhooks: { webhooks: before.webhooks.webhooks + 1, disabled: 0, failing: 0, waiting: 0, due: 0 },
      refunds: [],
      log: {
        leader: { holder: expect.any(String) as string },
        witnesses: [{ name: 'local-witness-1' }, { name: 'local-witness-2' }],
      },
    });
    const { schema_version } = json['service'] as { schema_version: number };
    expect(schema_version).toBeGreaterThanOrEqual(19);
    const queues = (json['queues'] as { name: string }[]).map(({ name }) => name);
    expect(queues).toEqual(expect.arrayContaining(['receipts', 'ledger', 'postings', 'webhooks', 'refunds']));
  });
});
