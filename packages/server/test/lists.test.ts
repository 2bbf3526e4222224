import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hashOf } from './hashes.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  type Reply,
  receiptIdOf,
  startTestService,
  type TestService,
} from './service.ts';
import { newTenant, type TestTenant } from './tenant.ts';

type Headers = Record<string, string>;
type Row = Record<string, unknown> & { receipt_id: string };

const cursorIn = (json: Reply['json']): string => json['next_cursor'] as string;

describe.each(DATABASES)('lists on %s', (database) => {
  let service: TestService;
  let one: Headers;
  let other: Headers;
  let tenant: TestTenant;
  let stranger: TestTenant;
  /** Ids of receipts by whose they are. */
  const ids: Record<string, string[]> = {};

  const rowsOf = async (path: string, headers: Headers): Promise<Row[]> => {
    const { status, json } = await service.get(path, headers);
    expect(status).toBe(200);
    return json['data'] as Row[];
  };
  const countsOf = async (path: string, headers: Headers, name: string): Promise<number[]> => {
    const { status, json } = await service.get(path, headers);
    expect(status).toBe(200);
    return (json['data'] as Record<string, number>[]).map((row) => row[name] ?? 0);
  };
  const idsOf = async (path: string, headers: Headers) =>
    (await rowsOf(path, headers)).map(({ receipt_id }) => receipt_id);

  beforeAll(async () => {
    service = await startTestService({ database });
    [one, other] = [await apiKey(service, 'scale'), await apiKey(service, 'pro')];
    [tenant, stranger] = [await newTenant(service), await newTenant(service)];
    const emitted = async (headers: Headers, path: string, body: object): Promise<string> =>
      receiptIdOf((await service.post(path, body, headers)).text);
    const body = { input: 'same', purpose: 'shared', agent_did: 'did:web:a.example' };
    ids['one'] = [
      await emitted(one, '/v1/receipt/emit', body),
      await emitted(one, '/v1/receipt/emit?profile=nano', { input: 'same' }),
      await emitted(one, '/v1/receipt/free', { input: 'same', purpose: 'free' }),
    ];
    ids['other'] = [await emitted(other, '/v1/receipt/emit', body)];
    ids['tenant'] = [await emitted(tenant.headers, `/tenants/${tenant.id}/receipts`, body)];
    await emitted({}, '/v1/receipt/emit', body);
    await service.post('/v1/anchor', { canonical_sha256: hashOf('a') }, one);
    await service.post('/v1/anchor', { canonical_sha256: hashOf('b') }, other);
    const isListed = async (headers: Headers, count: number): Promise<boolean> =>
      (await idsOf('/v1/receipts', headers)).length === count;
    const isAllListed = async (): Promise<boolean> =>
      (await isListed(one, 3)) && (await isListed(other, 1)) && isListed(tenant.headers, 1);
    await vi.waitUntil(isAllListed, 60_000);
  });
  afterAll(() => service.close());

  const QUERIES = [
    '',
    '?profile=standard',
    '?purpose=shared',
    '?did=did:web:a.example',
    '?from=0',
    '?to=9999999999',
    '?format=csv',
    '?format=ndjson',
    '?limit=1000',
    '?purpose=shared&format=ndjson',
    '?min_cost=0',
    '?max_cost=1&format=csv',
    '?status=ok',
    '?provider=openai',
    '?tag=team:shared',
  ];
  /** Filters that none of these receipts match: none is of a call, and of none is the cost known. */
  const OF_CALLS = /status|provider|tag|cost/;

  it.each(QUERIES)('show nobody the receipts of another: %s', async (query) => {
    const readers: [string, string, Headers][] = [
      ['one', '/v1/receipts', one],
      ['other', '/v1/receipts', other],
      ['tenant', '/v1/receipts', tenant.headers],
      ['tenant', `/tenants/${tenant.id}/receipts`, tenant.headers],
      ['nobody', '/v1/receipts', stranger.headers],
      ['nobody', `/tenants/${stranger.id}/receipts`, stranger.headers],
    ];
    for (const [reader, path, headers] of readers) {
      const answer = await service.app.request(path + query, { headers });
      const text = await answer.text();
      expect(answer.status).toBe(200);
      const shown = Object.keys(ids).filter((owner) => ids[owner]?.some((id) => text.includes(id)));
      expect(shown).toEqual(reader === 'nobody' || OF_CALLS.test(query) ? [] : [reader]);
    }
  });

  it('show nobody a receipt by its id, its hash or its key that is another’s', async () => {
    const [row] = await rowsOf('/v1/receipts?purpose=shared', one);
    const { request_hash: hash, key } = row as Row & Record<'request_hash' | 'key', string>;
    for (const filter of [`receipt_id=${ids['one']?.[0]}`, `key=${key}`, `session=x&key=${key}`])
      expect(await idsOf(`/v1/receipts?${filter}`, other)).toEqual([]);
    expect(await idsOf(`/v1/receipts?request_hash=${hash}`, other)).toEqual(ids['other']);
    expect(await idsOf(`/v1/receipts?request_hash=${hash}`, stranger.headers)).toEqual([]);
  });

  it('count by bucket what each reader’s list has, and nothing of another’s', async () => {
    const counted = (headers: Headers, query = '', path = '/v1/receipts/counts'): Promise<number[]> =>
      countsOf(path + query, headers, 'receipts');
    expect(await counted(one)).toEqual([3]);
    expect(await counted(one, '?profile=nano&bucket=minute')).toEqual([1]);
    expect(await counted(one, '?did=did:web:a.example&bucket=day')).toEqual([1]);
    expect(await counted(one, '?to=1000')).toEqual([]);
    expect(await counted(other)).toEqual([1]);
    expect(await counted(tenant.headers)).toEqual([1]);
    expect(await counted(stranger.headers)).toEqual([]);
    const ofTenant = `/tenants/${tenant.id}/receipts/counts`;
    expect(await counted(tenant.headers, '', ofTenant)).toEqual([1]);
    expect(await counted(tenant.headers, '?purpose=shared', ofTenant)).toEqual([1]);
    expect(await counted(tenant.headers, '?purpose=other', ofTenant)).toEqual([]);
    expectProblem(await service.get(ofTenant, stranger.headers), 'tenant_not_found');
    expectProblem(await service.get(ofTenant, one), 'api_key_invalid');
    for (const query of ['?status=ok', '?provider=openai', '?tag=a:b', '?min_cost=0'])
      expect(await counted(one, query)).toEqual([]);
    for (const id of ids['one'] ?? []) expect(await counted(other, `?receipt_id=${id}`)).toEqual([]);
    // In development, a request without a credential is that of the account `development`, which has issued none.
    expect(await counted({})).toEqual([]);
    const long = await service.get('/v1/receipts/counts?from=0&bucket=minute', one);
    expectProblem(long, 'invalid_field', 'bucket');
  });

  it('say of a receipt what it says, with its place in the log', async () => {
    const [row] = await rowsOf('/v1/receipts?profile=nano', one);
    const [standard] = await rowsOf('/v1/receipts?purpose=shared', one);
    expect(row).toMatchObject({ receipt_id: ids['one']?.[1], purpose: null, anchored: { leaf_index: 1 } });
    expect(standard).toMatchObject({
      anchored: { leaf_index: 0 },
      did: 'did:web:a.example',
      cost_usdc: null,
    });
    expect(row?.['request_hash']).toBe(standard?.['request_hash']);
    expect(row?.['at']).toMatch(/\.\d{3}Z$/);
    expect(String(row?.['key'])).toMatch(/^key_/);
  });

  it('go on where the last page ended, and have a file with a line for each row', async () => {
    const first = (await service.get('/v1/receipts?limit=2', one)).json;
    const second = (await service.get(`/v1/receipts?limit=2&cursor=${cursorIn(first)}`, one)).json;
    expect(second['next_cursor']).toBeNull();
    const all = [...(first['data'] as Row[]), ...(second['data'] as Row[])].map((row) => row.receipt_id);
    expect(all.toSorted()).toEqual(ids['one']?.toSorted());
    const csv = await service.get('/v1/receipts?format=csv', one);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.text.split('\r\n')).toHaveLength(5);
  });

  it('have the hashes that a caller anchored, and no others', async () => {
    const places = async (headers: Headers, query = '') =>
      (await rowsOf(`/v1/anchors${query}`, headers)).map((row) => row['leaf_index']);
    expect(await places(one)).toEqual([4, 2, 1, 0]);
    expect(await places(other)).toEqual([5]);
    expect(await places(tenant.headers)).toEqual([3]);
    expect(await places(stranger.headers)).toEqual([]);
    expect(await places(one, `?canonical_sha256=${hashOf('a')}`)).toEqual([4]);
    expect(await places(other, `?canonical_sha256=${hashOf('a')}`)).toEqual([]);
    expect((await service.get('/v1/anchors?format=csv', other)).text).not.toContain(hashOf('a'));
    const [row] = await rowsOf('/v1/receipts?limit=1', one);
    const key = String(row?.['key']);
    expect(await places(one, `?key=${key}`)).toEqual([4, 2, 1, 0]);
    expect(await places(other, `?key=${key}`)).toEqual([]);
    expect(await places(tenant.headers, `?key=${key}`)).toEqual([]);
    expect(await places(one, `?receipt_id=${ids['one']?.[1]}`)).toEqual([1]);
    expect(await places(one, `?receipt_id=${ids['one']?.[1]}&canonical_sha256=${hashOf('a')}`)).toEqual([]);
    expect(await places(other, `?receipt_id=${ids['one']?.[1]}`)).toEqual([]);
    expect(await places(tenant.headers, `?receipt_id=${ids['tenant']?.[0]}`)).toEqual([3]);
    const counted = (headers: Headers, query = ''): Promise<number[]> =>
      countsOf(`/v1/anchors/counts${query}`, headers, 'anchors');
    expect(await counted(one)).toEqual([4]);
    expect(await counted(one, `?key=${key}&bucket=day`)).toEqual([4]);
    expect(await counted(other, `?key=${key}`)).toEqual([]);
    expect(await counted(other, '?bucket=minute')).toEqual([1]);
    expect(await counted(tenant.headers)).toEqual([1]);
    expect(await counted(stranger.headers)).toEqual([]);
    await service.post('/v1/anchor', { canonical_sha256: hashOf('a') }, other);
    expect(await places(other)).toEqual([5, 4]);
  });

  it('have every leaf of the log for everybody, from any index', async () => {
    const leaves = async (query: string) =>
      (await rowsOf(`/v1/log/leaves${query}`, {})).map((row) => row['leaf_index']);
    expect(await leaves('')).toEqual([5, 4, 3, 2, 1, 0]);
    expect(await leaves('?from_index=2&limit=2')).toEqual([2, 1]);
    const { json } = await service.get('/v1/log/leaves?limit=4');
    expect(await leaves(`?cursor=${cursorIn(json)}`)).toEqual([1, 0]);
    const [row] = await rowsOf('/v1/log/leaves?from_index=4', {});
    expect(row).toMatchObject({ canonical_sha256: hashOf('a'), posting: null });
    const anchor = await service.get(`/v1/anchor/${row?.['anchor_ref'] as string}`);
    expect(anchor.json).toMatchObject({ anchor_ref: row?.['anchor_ref'] });
    expect(await leaves('?to=0')).toEqual([]);
    expect(await countsOf('/v1/log/leaves/counts', {}, 'leaves')).toEqual([6]);
    expect(await countsOf('/v1/log/leaves/counts?bucket=day&to=86400', {}, 'leaves')).toEqual([]);
    expect(await countsOf('/v1/log/postings/counts', {}, 'postings')).toEqual([]);
    expect(await rowsOf(`/v1/log/postings?state=queued&tree_size=6&tx_hash=0x${'0'.repeat(64)}`, {})).toEqual(
      [],
    );
  });

  it.each<[string, string, string, () => Headers]>([
    ['limit', '/v1/receipts?limit=0', 'invalid_field', () => one],
    ['from', '/v1/receipts?from=x', 'invalid_field', () => one],
    ['cursor', '/v1/anchors?cursor=x', 'invalid_field', () => one],
    ['format', '/v1/log/leaves?format=xml', 'invalid_field', () => ({})],
    ['canonical_sha256', '/v1/anchors?canonical_sha256=x', 'invalid_base64url', () => one],
    ['owner', '/v1/receipts?owner=caller:x', 'unknown_field', () => one],
    ['status', '/v1/receipts?status=200', 'invalid_field', () => one],
    ['tag', '/v1/receipts?tag=x', 'invalid_field', () => one],
    ['request_hash', `/v1/receipts?request_hash=${'A'.repeat(64)}`, 'invalid_field', () => one],
    ['min_cost', '/v1/receipts?min_cost=x', 'invalid_field', () => one],
    ['max_cost', '/v1/receipts/counts?max_cost=-1', 'invalid_field', () => one],
    ['purpose', '/v1/receipts?purpose=%00', 'invalid_field', () => one],
    ['key', '/v1/anchors?key=x', 'invalid_field', () => one],
    ['receipt_id', '/v1/anchors?receipt_id=x', 'invalid_field', () => one],
    ['state', '/v1/log/postings?state=x', 'invalid_field', () => ({})],
    ['tx_hash', '/v1/log/postings?tx_hash=x', 'invalid_field', () => ({})],
    ['tree_size', '/v1/log/postings?tree_size=x', 'invalid_field', () => ({})],
    ['bucket', '/v1/log/leaves/counts?from=0&bucket=minute', 'invalid_field', () => ({})],
  ])('refuse a bad %s', async (field, path, code, headers) => {
    const reply: Reply = await service.get(path, headers());
    expect([reply.status, reply.json]).toMatchObject([422, { code, field }]);
  });

  it('refuse a profile that there is not, and name those that there are', async () => {
    const paths = ['/v1/receipts', '/v1/receipts/counts', `/tenants/${tenant.id}/receipts`];
    for (const path of paths) {
      const refused = await service.get(
        `${path}?profile=zz`,
        path.includes('tenants') ? tenant.headers : one,
      );
      expectProblem(refused, 'invalid_field', 'profile');
      expect(refused.json.detail).toMatch(/"nano".*"standard".*"metering"/);
    }
    expect((await service.get('/v1/receipts?profile=metering', one)).status).toBe(200);
  });

  it('refuse the cursor of another list, strangers, and the path of another tenant', async () => {
    const { json } = await service.get('/v1/receipts?limit=1', one);
    const mixed = await service.get(`/v1/log/leaves?cursor=${cursorIn(json)}`);
    expect(mixed.json).toMatchObject({ code: 'invalid_field', field: 'cursor' });
    expectProblem(await service.get(`/tenants/${tenant.id}/receipts`, stranger.headers), 'tenant_not_found');
    expectProblem(await service.get(`/tenants/${tenant.id}/receipts`, one), 'api_key_invalid');
  });
});
