import {
  createSigner,
  generateSecretKey,
  type JsonObject,
  type Signer,
  signRequest,
  utf8,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CHAT, MODEL, messages, type Routed, startRouted } from './compute.ts';
import { hashOf } from './hashes.ts';
import { newOperator } from './operator-key.ts';
import {
  COUNTS,
  KEYS,
  LIVE,
  NO_FILTERS,
  type Party,
  privateReads,
  READS,
  type Read,
  SHOWN_TO,
  type Sign,
  TRIED_IN,
  VALUES,
} from './private-reads.ts';
import { apiKey, DATABASES, type Reply, receiptIdOf } from './service.ts';
import { newTenant, type TestTenant } from './tenant.ts';

/** Tries every read of what a caller owns, as every other caller, with every filter. */

/** Live lists that one reader follows at once; two readers share an account, which may have ten. */
const TAILS = 5;

describe.each(DATABASES)('what belongs to a caller, on %s', (database) => {
  let routed: Routed;
  let reads: Read[];
  let document: JsonObject;
  const parties: Party[] = [];

  const request = async (party: Party, method: string, path: string, body?: object): Promise<Reply> => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = await party.sign(method, path, text);
    return routed.service.request(path, {
      method,
      headers: { ...headers, ...(text !== undefined && { 'content-type': 'application/json' }) },
      ...(text !== undefined && { body: text }),
    });
  };
  const get = (party: Party, path: string): Promise<Reply> => request(party, 'GET', path);
  const made = async (party: Party, path: string, body: object): Promise<Reply> => {
    const reply = await request(party, 'POST', path, body);
    expect(reply.status, `${party.name} ${path} ${reply.text}`).toBeLessThan(300);
    return reply;
  };
  const partyOf = (name: string): Party => {
    const found = parties.find((party) => party.name === name);
    if (found === undefined) throw new RangeError(`There is no party ${name}.`);
    return found;
  };
  const callers = () => parties.filter(({ marks }) => marks.length > 0);
  const isOwn = (party: Party, reader: Party) => party === reader || reader.pays.includes(party.name);
  const marksIn = (text: string, of: readonly Party[]): string[] =>
    of.flatMap(({ marks }) => marks).filter((mark) => text.includes(mark));
  /** The marks in a text that this reader may see, and those that it may not. */
  const ownIn = (text: string, reader: Party) =>
    marksIn(
      text,
      parties.filter((party) => isOwn(party, reader)),
    );
  const foreignIn = (text: string, reader: Party) =>
    marksIn(
      text,
      parties.filter((party) => !isOwn(party, reader)),
    );

  const add = (name: string, sign: Sign, pays: string[] = []): Party => {
    const party = { name, sign, pays, known: {}, marks: [] };
    parties.push(party);
    return party;
  };
  const signedBy =
    (did: string, signer: Signer): Sign =>
    (method, path, body = '') => {
      const url = new URL(routed.service.config.receiptsUrl + path);
      const moment = { created: Math.floor(routed.service.clock() / 1000), nonce: crypto.randomUUID() };
      return signRequest({ method, url, body: utf8(body) }, { did, signer }, moment);
    };

  /** A call that succeeds and one that fails, with the same filters for everybody; the tag of the failed one is a mark. */
  const call = async (party: Party): Promise<string> => {
    const mark = `of-${party.name}`;
    const svc = { session: 'shared', tags: { team: 'shared' } };
    const { headers } = await made(party, CHAT, { model: MODEL, messages, svc });
    const tags = { team: 'shared', mark };
    const failed = { model: 'openai/none', messages, svc: { session: `run ${mark}`, tags } };
    expect((await request(party, 'POST', CHAT, failed)).status).toBe(404);
    const id = headers.get('x-receipt-id') ?? '';
    party.marks.push(id, mark, `run ${mark}`);
    await routed.service.listed();
    return id;
  };
  const withCalls = async (party: Party): Promise<void> => {
    const id = await call(party);
    await call(party);
    const listed = async () =>
      (await get(party, `/v1/compute/calls?receipt_id=${id}`)).json['data'] as JsonObject[];
    const [row] = await vi.waitFor(async () => {
      const rows = await listed();
      expect(rows).toHaveLength(1);
      return rows;
    }, 60_000);
    party.known['receipt_id'] = id;
    party.known['request_hash'] = textOf(row?.['request_hash']);
  };
  const withReceipts = async (party: Party, path: string): Promise<void> => {
    const body = { input: `of ${party.name}`, purpose: 'shared' };
    const emitted = [
      await made(party, path, body),
      await made(party, path, { ...body, purpose: `purpose-${party.name}` }),
    ];
    const ids = emitted.map(({ text }) => receiptIdOf(text));
    party.marks.push(...ids, `purpose-${party.name}`);
    party.known['emitted'] = ids[0] ?? '';
  };
  /** A session that the service signs, which has a call too. */
  const withSession = async (party: Party): Promise<void> => {
    const id = crypto.randomUUID().replaceAll('-', '');
    const salt_commitment = `sha256:${'ab'.repeat(32)}`;
    await made(party, '/v1/sessions', { session_id: id, salt_commitment });
    await made(party, CHAT, { model: MODEL, messages, svc: { session: id } });
    party.marks.push(id);
  };
  const withAnchor = async (party: Party): Promise<void> => {
    const hash = hashOf(`anchored by ${party.name}`);
    await made(party, '/v1/anchor', { canonical_sha256: hash });
    party.known['hash'] = hash;
    party.marks.push(hash);
  };
  const withWebhook = async (party: Party): Promise<void> => {
    // Nothing listens there: the delivery stays in the list.
    const url = `http://127.0.0.1:9/hook-of-${party.name}`;
    const { json } = await made(party, '/v1/webhooks', { url, events: ['key.revoked'] });
    const id = textOf(json['id']);
    const test = await request(party, 'POST', `/v1/webhooks/${id}/test`);
    expect(test.status, test.text).toBe(202);
    party.known['webhook'] = id;
    party.marks.push(id, url, textOf(test.json['id']));
  };
  const madeKey = async (owner: Party, name: string): Promise<Party> => {
    const { json } = await made(owner, '/v1/keys', { name: `name-of-${name}` });
    const party = add(name, () => ({ authorization: `Bearer ${textOf(json['key'])}` }));
    party.known['key'] = textOf(json['id']);
    party.marks.push(textOf(json['id']), `name-of-${name}`);
    return party;
  };
  const rootKey = async (name: string, pays: string[]): Promise<Party> => {
    const headers = await apiKey(routed.service, 'scale');
    const party = add(name, () => headers, pays);
    const { json } = await get(party, '/v1/keys');
    const id = textOf((json['data'] as JsonObject[])[0]?.['id']);
    party.known['key'] = id;
    party.marks.push(id);
    return party;
  };
  const tenantParty = (name: string, { id, headers }: TestTenant): Party => {
    const party = add(name, () => headers);
    party.known['tenant'] = id;
    return party;
  };

  beforeAll(async () => {
    routed = await startRouted({ database, env: { TALLY_FREE_MINT_PER_DAY: '0' } });
    document = (await routed.service.get('/openapi.json')).json;
    reads = privateReads(document);

    for (const name of ['one', 'two']) {
      const owner = await rootKey(name, [`made-by-${name}`]);
      const worker = await madeKey(owner, `made-by-${name}`);
      for (const party of [owner, worker]) {
        await withCalls(party);
        await withReceipts(party, '/v1/receipt/emit');
        await withSession(party);
        await withAnchor(party);
      }
      await withWebhook(owner);

      const signer = await createSigner(generateSecretKey());
      const did = signer.keyId.split('#')[0] ?? '';
      const agent = add(`did-${name}`, signedBy(did, signer), [`made-by-did-${name}`]);
      agent.known['did'] = did;
      agent.marks.push(did);
      await withCalls(agent);
      await withReceipts(agent, '/v1/receipt/emit');
      await withSession(agent);
      await withWebhook(agent);
      await withCalls(await madeKey(agent, `made-by-did-${name}`));

      const tenant = tenantParty(`tenant-${name}`, await newTenant(routed.service));
      await withReceipts(tenant, `/tenants/${tenant.known['tenant']}/receipts`);
      await withWebhook(tenant);
      const room = `/tenants/${tenant.known['tenant']}/evidence`;
      await get(tenant, room);
      tenant.marks.push(...(await get(tenant, `${room}/exports`)).text.match(/r_standard_\w+/g)!);
    }
    const { did = '' } = partyOf('did-one').known;
    add('nobody', () => ({}));
    add('a DID that is not proved', () => ({ 'x-agent-did': did }));
    const partner = await apiKey(routed.service, 'partner');
    add('a partner', () => partner);
    const operator = await newOperator(routed.service);
    add('an operator', () => operator.headers);

    for (const [name, path] of [
      ['one', '/v1/receipts'],
      ['did-one', '/v1/receipts'],
      ['tenant-two', '/v1/receipts'],
    ] as const) {
      const party = partyOf(name);
      const isListed = async () =>
        (await get(party, `${path}?receipt_id=${party.known['emitted']}`)).text.includes('receipt_id');
      await vi.waitUntil(isListed, 60_000);
    }
  });
  afterAll(() => routed.close());

  it('is named here, with every parameter of each read', () => {
    const known = reads.map(({ operationId }) => operationId);
    expect(known.filter((id) => !(id in READS) && !(id in TRIED_IN))).toEqual([]);
    expect([...Object.keys(READS), ...Object.keys(TRIED_IN)].filter((id) => !known.includes(id))).toEqual([]);
    expect(
      reads.flatMap(({ parameters }) => parameters).filter((name) => !(name in VALUES) && name !== 'after'),
    ).toEqual([]);
  });

  /** The queries of a read that look for the rows of a caller: none, each parameter, and its cursor. */
  const queriesFor = async (
    { operationId, parameters }: Read,
    of: Party,
    path: string,
  ): Promise<string[]> => {
    const filters = parameters.flatMap((name) =>
      (VALUES[name]?.(of.known, operationId) ?? []).flatMap((value) =>
        value === undefined ? [] : [`?${name}=${encodeURIComponent(value)}`],
      ),
    );
    const first = parameters.includes('cursor') ? (await get(of, `${path}?limit=1`)).json : {};
    const cursor = first['next_cursor'];
    return ['', ...filters, ...(typeof cursor === 'string' ? [`?cursor=${cursor}`] : [])];
  };

  it.each(Object.keys(READS))(
    'is shown to nobody else by %s',
    async (operationId) => {
      const read = readOf(operationId);
      const shown = new Set<string>();
      const tried = new Set<string>();
      for (const of of callers()) {
        for (const path of READS[operationId]?.(of.known) ?? []) {
          const queries = await queriesFor(read, of, path);
          for (const reader of parties) {
            for (const asked of queries.map((query) => path + query)) {
              const isNew = !tried.has(`${reader.name} ${asked}`);
              tried.add(`${reader.name} ${asked}`);
              if (!isNew) continue;
              const { status, text } = await get(reader, asked);
              const what = `${reader.name} asks ${asked}: ${status}`;
              expect([200, 401, 403, 404], `${what} ${text}`).toContain(status);
              expect(foreignIn(text, reader), what).toEqual([]);
              if (status === 200 && ownIn(text, reader).length > 0) shown.add(reader.name);
            }
          }
        }
      }
      // Where nobody is shown anything, nothing was tried.
      expect([...shown].toSorted()).toEqual(SHOWN_TO[operationId]?.toSorted());
    },
    600_000,
  );

  it('is shown to whoever pays for the key that it was made with', async () => {
    for (const name of KEYS) {
      const { key, emitted = '', hash = '', receipt_id: call = '' } = partyOf(`made-by-${name}`).known;
      const shown = async (path: string) => (await get(partyOf(name), path)).text;
      expect(await shown(`/v1/receipts?key=${key}`)).toContain(emitted);
      expect(await shown(`/v1/anchors?canonical_sha256=${hash}`)).toContain(hash);
      expect(await shown(`/v1/compute/calls?key=${key}`)).toContain(call);
      expect(await shown(`/v1/compute/calls/counts?key=${key}`)).toContain('"calls":');
    }
  });

  it.each(Object.entries(COUNTS))(
    'is counted for nobody else by %s',
    async (operationId, { list, sum }) => {
      const { parameters } = readOf(operationId);
      const grouped = ['by', 'bucket'].flatMap((name) =>
        parameters.includes(name)
          ? (VALUES[name]?.({}, operationId) ?? []).map((value) => `${name}=${value}`)
          : [],
      );
      const filters = ['', ...new Set(callers().flatMap(({ known }) => filtersOf(operationId, known)))];
      const paths = new Set(callers().flatMap(({ known }) => READS[list]?.(known) ?? []));
      const shown = new Set<string>();
      for (const reader of parties) {
        for (const [path, filter] of [...paths].flatMap((path) =>
          filters.map((one) => [path, one] as const),
        )) {
          const { status, json, text } = await get(reader, `${path}?limit=1000&${filter}`);
          const own = status === 200 ? (json['data'] as unknown[]).length : 0;
          if (status === 200 && ownIn(text, reader).length > 0) shown.add(reader.name);
          // Every bucket and group of what is there; of what is not, one is enough.
          for (const group of own > 0 || filter === '' ? ['', ...grouped] : ['']) {
            const counted = await get(reader, `${path}/counts?${[filter, group].filter(Boolean).join('&')}`);
            const what = `${reader.name} ${path} ${filter} ${group}: ${counted.text}`;
            expect([200, 401, 403, 404], what).toContain(counted.status);
            expect(foreignIn(counted.text, reader), what).toEqual([]);
            const rows = (counted.json['data'] ?? []) as Record<string, number>[];
            expect(
              rows.reduce((total, row) => total + (row[sum] ?? 0), 0),
              what,
            ).toBe(own);
          }
        }
      }
      expect([...shown].toSorted()).toEqual(SHOWN_TO[list]?.toSorted());
    },
    600_000,
  );

  it('is in sessions that add up its own calls and receipts alone', async () => {
    const rowsOf = async (reader: Party, path: string): Promise<Record<string, unknown>[]> =>
      (await get(reader, `${path}?limit=1000`)).json['data'] as Record<string, unknown>[];
    for (const reader of parties.filter(makesCalls)) {
      const [calls, receipts] = [
        await rowsOf(reader, '/v1/compute/calls'),
        await rowsOf(reader, '/v1/receipts'),
      ];
      const sessions = await rowsOf(reader, '/v1/sessions');
      const ids = [...calls, ...receipts].flatMap((row) => row['session'] ?? []);
      expect(new Set(sessions.map((row) => row['session']))).toEqual(new Set(ids));
      expect(sessions).toHaveLength(new Set(ids).size);
      for (const { session, ...row } of sessions) {
        const own = (rows: Record<string, unknown>[]) =>
          rows.filter((one) => one['session'] === session).length;
        expect([row['calls'], row['receipts']], `${reader.name} ${JSON.stringify(session)}`).toEqual([
          own(calls),
          own(receipts),
        ]);
      }
    }
  });

  it('is not shown to an operator, who has a page of their own', async () => {
    const operator = partyOf('an operator');
    expect((await get(operator, '/v1/operator/overview')).status).toBe(200);
    const paths = callers().flatMap(({ known }) => Object.values(READS).flatMap((of) => of(known)));
    const counts = callers().flatMap(({ known }) =>
      Object.values(COUNTS).flatMap(({ list }) =>
        (READS[list]?.(known) ?? []).map((path) => `${path}/counts`),
      ),
    );
    for (const path of new Set([...paths, ...counts, LIVE])) {
      const { status, text } = await get(operator, path);
      expect([401, 403, 404], `${path} ${text}`).toContain(status);
    }
  });

  /** Opens a live list. One that has just been closed may still count. */
  const follow = async (reader: Party, filter: string, signal: AbortSignal) => {
    const path = `${LIVE}?${filter}`;
    const body = await vi.waitUntil(
      async () => {
        const headers = await reader.sign('GET', path);
        const answer = await fetch(routed.url + path, { headers, signal });
        expect([200, 429], `${reader.name} ${filter}`).toContain(answer.status);
        return answer.status === 200 ? answer.body : null;
      },
      { timeout: 60_000, interval: 100 },
    );
    const stream = (body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader();
    await stream.read();
    return { reader, filter, stream };
  };
  const idsOf = async (reader: Party, filter: string): Promise<Set<string>> => {
    const { json } = await get(reader, `/v1/compute/calls?limit=1000&${filter}`);
    return new Set((json['data'] as { id: string }[]).map(({ id }) => id));
  };

  it('is followed by nobody else, whatever the filter', async () => {
    const readers = parties.filter(makesCalls);
    const shown = new Map<string, Set<string>>();
    const plans: string[][] = [];
    for (const reader of readers) {
      const others = readers.filter((one) => !isOwn(one, reader));
      const foreign = others.flatMap(({ known: { key, did } }) =>
        key === undefined ? (did === undefined ? [] : [`did=${did}`]) : [`key=${key}`],
      );
      const filters = ['', ...filtersOf('followCalls', reader.known), ...foreign.slice(0, 2)];
      const isFound = await Promise.all(filters.map(async (one) => (await idsOf(reader, one)).size > 0));
      // Those that show something first: of the others it takes a while to be sure.
      plans.push(
        filters.toSorted((a, b) => Number(isFound[filters.indexOf(b)]) - Number(isFound[filters.indexOf(a)])),
      );
      for (const filter of filters) shown.set(filter, new Set());
    }
    for (let from = 0; plans.some((plan) => plan.length > from); from += TAILS) {
      const ended = new AbortController();
      const tails = await Promise.all(
        readers.flatMap((reader, at) =>
          (plans[at] ?? []).slice(from, from + TAILS).map(async (filter) => {
            const before = await idsOf(reader, filter);
            return { ...(await follow(reader, filter, ended.signal)), before };
          }),
        ),
      );
      for (const reader of readers) await call(reader);
      await Promise.all(
        tails.map(async ({ reader, filter, stream, before }) => {
          const wanted = [...(await idsOf(reader, filter))].filter((id) => !before.has(id));
          const isOver = (text: string): boolean =>
            wanted.length === 0 ? text.includes(': nothing new') : wanted.every((id) => text.includes(id));
          let text = '';
          while (!isOver(text)) text += (await stream.read()).value;
          expect(foreignIn(text, reader), `${reader.name} follows ${filter}`).toEqual([]);
          expect(text.split('event: call')).toHaveLength(wanted.length + 1);
          if (wanted.length > 0) shown.get(filter)?.add(reader.name);
        }),
      );
      ended.abort();
    }
    // Where a filter shows nobody anything, it was not tried.
    const found = [...shown].filter(([, by]) => by.size > 0);
    const tried = new Set(found.map(([filter]) => filter.split('=')[0]));
    const names = readOf('followCalls').parameters.filter((name) => name !== 'receipt_id');
    expect(names.filter((name) => !tried.has(name))).toEqual([]);
  }, 600_000);

  /** The filters of a read with values of the rows of a caller. */
  const filtersOf = (operationId: string, known: Party['known']): string[] =>
    readOf(operationId)
      .parameters.filter((name) => !NO_FILTERS.has(name))
      .flatMap((name) =>
        (VALUES[name]?.(known, operationId) ?? [])
          .filter((value) => value !== undefined)
          .map((value) => `${name}=${encodeURIComponent(value)}`),
      );

  const readOf = (operationId: string): Read => {
    const read = reads.find((one) => one.operationId === operationId);
    if (read === undefined) throw new RangeError(`There is no read ${operationId}.`);
    return read;
  };
});

function textOf(value: unknown): string {
  expect(value).toEqual(expect.any(String));
  return value as string;
}

const makesCalls = ({ known }: Party): boolean => 'request_hash' in known;
