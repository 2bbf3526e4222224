import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { canonicalize, type JsonObject, parseJson, utf8 } from '@tallystick/core';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import { type Env, post, type Served, serve, temporaryFolder } from './process.ts';

const ROUNDS = 3;
const CALLERS = 32;
/** Answers to wait for before the process is killed. */
const ENOUGH = 300;

interface Answered {
  readonly id: string;
  readonly text: string;
  readonly path: string;
  readonly body: JsonObject;
  readonly key: string | null;
}

interface Row {
  readonly id: string;
  readonly body: string;
}

const ROWS = 'select id, body from receipts';
/** Keys whose receipt is not there. */
const DANGLING = `select scope from idempotency
  where receipt_id is null or receipt_id not in (select id from receipts)`;

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const idOf = (text: string): string => {
  const receipt = JSON.parse(text) as { receipt_id?: string; receipt?: { id: string } };
  return receipt.receipt_id ?? receipt.receipt?.id ?? '';
};

/** Callers that mint and emit as fast as they are answered, half with a key, until their connection breaks. */
async function killUnderLoad(service: Served, round: number): Promise<Answered[]> {
  const answered: Answered[] = [];
  const enough = Promise.withResolvers<void>();
  const caller = async (number: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const profile = [null, 'nano', 'standard', 'pq'][i % 4];
      const path = profile === null ? '/v1/receipt/free' : `/v1/receipt/emit?profile=${profile}`;
      const input = `${round} ${number} ${i}`;
      const body = profile === 'nano' ? { input } : { input, purpose: 'load' };
      const key = (i + number) % 2 === 0 ? `${round}-${number}-${i}` : null;
      const { status, text } = await post(
        `${service.url}${path}`,
        body,
        key === null ? {} : { 'idempotency-key': key },
      );
      expect(status, text).toBe(200);
      answered.push({ id: idOf(text), text, path, body, key });
      if (answered.length >= ENOUGH) enough.resolve();
    }
  };
  const broken = Array.from({ length: CALLERS }, (_, number) => caller(number));
  const settled = Promise.allSettled(broken);
  await enough.promise;
  expect(await service.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
  for (const outcome of await settled) {
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringMatching(/fetch failed|terminated/) },
    });
  }
  return answered;
}

async function expectKept({ url }: Served, answered: readonly Answered[]): Promise<void> {
  const read = async ({ id }: Answered) => (await fetch(`${url}/v1/receipt/${id}`)).text();
  expect(await Promise.all(answered.map(read))).toEqual(answered.map(({ text }) => text));
  for (let at = 0; at < answered.length; at += 500) {
    const batch = answered.slice(at, at + 500).map(({ text }) => text);
    const verdicts = JSON.parse(
      (await post(`${url}/v1/receipts/verify`, `{"receipts":[${batch.join()}]}`)).text,
    ) as {
      results: { valid: boolean; issuer: { trusted: boolean } }[];
    };
    expect(verdicts.results.filter(({ valid, issuer }) => valid && issuer.trusted)).toHaveLength(
      batch.length,
    );
  }
}

async function expectKeysHold({ url }: Served, answered: readonly Answered[]): Promise<void> {
  const repeat = async ({ path, body, key }: Answered) =>
    (await post(`${url}${path}`, body, { 'idempotency-key': key ?? '' })).text;
  const keyed = answered.filter(({ key }) => key !== null);
  expect(await Promise.all(keyed.map(repeat))).toEqual(keyed.map(({ text }) => text));
}

function expectWhole(rows: readonly Row[], answered: readonly Answered[]): void {
  const stored = new Map(rows.map(({ id, body }) => [id, body]));
  expect(stored.size).toBe(rows.length);
  for (const { id, body } of rows) {
    expect(idOf(body)).toBe(id);
    expect(canonicalize(parseJson(utf8(body)))).toBe(body);
  }
  for (const { id, text } of answered) expect(stored.get(id)).toBe(text);
}

async function crashRepeatedly(env: Env, rowsOf: () => Promise<readonly Row[]>): Promise<void> {
  const answered: Answered[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const fresh = await killUnderLoad(await serve(env), round);
    answered.push(...fresh);
    expectWhole(await rowsOf(), answered);
    const again = await serve(env);
    await expectKept(again, fresh);
    await expectKeysHold(again, fresh);
    await again.kill('SIGKILL');
  }
  const last = await serve(env);
  await expectKept(last, answered);
  const { code, stderr } = await last.kill('SIGTERM');
  expect(code, stderr).toBe(0);
  expect(new Set(answered.map(({ id }) => id)).size).toBe(answered.length);
}

describe('what was answered outlives kill -9', () => {
  it('on SQLite', async () => {
    const dataDir = temporaryFolder();
    await crashRepeatedly({ TALLY_DATA_DIR: dataDir }, async () => {
      const connection = new DatabaseSync(join(dataDir, 'tally.db'));
      expect(connection.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
      expect(connection.prepare(DANGLING).all()).toEqual([]);
      const rows = connection.prepare(ROWS).all() as unknown as Row[];
      connection.close();
      return rows;
    });
  });

  it('on PostgreSQL', async () => {
    const url = await postgres.url('crash');
    await crashRepeatedly({ TALLY_DATA_DIR: temporaryFolder(), TALLY_DATABASE_URL: url }, async () => {
      const client = new Client({ connectionString: url });
      await client.connect();
      expect((await client.query(DANGLING)).rows).toEqual([]);
      const { rows } = await client.query<Row>(ROWS);
      await client.end();
      return rows;
    });
  });
});
