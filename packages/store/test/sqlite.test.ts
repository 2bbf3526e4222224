import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ReceiptRow } from '@tallystick/kit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openSqliteStore } from '../src/sqlite.ts';
import { everySuite } from './every-suite.ts';
import { documentedTables, grows, SeenStatements } from './growing-tables.ts';
import { credit, NOW } from './ledger-fixtures.ts';
import { type Fault, ledgerRandomSuite } from './ledger-random-suite.ts';
import { allLeaves } from './log-fixtures.ts';
import type { TestDatabase } from './test-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-sqlite-'));
let files = 0;

function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

function receipt(id: string): ReceiptRow {
  return { id, profile: 'nano', tenant: null, body: `"${id}"`, issuedAt: 0, expiresAt: 1 };
}

afterAll(() => rmSync(folder, { recursive: true }));

/** A file with nothing but the store's tables: a copy, which takes less time than all migrations. */
const template = newFile();

const seen = new SeenStatements();
seen.watch(DatabaseSync.prototype, 'prepare');

beforeAll(async () => {
  await (await openSqliteStore(template)).close();
  seen.endMigrations();
});

async function createDatabase(): Promise<TestDatabase> {
  const file = newFile();
  copyFileSync(template, file);
  return {
    open: () => openSqliteStore(file),
    execute: async (sql) => {
      const connection = new DatabaseSync(file);
      connection.exec(sql);
      connection.close();
    },
  };
}

everySuite('SQLite', createDatabase);

/** Makes a method of all connections or statements fail as when the disk does. */
function failAt(next: () => Fault, prototype: object, method: string): void {
  const original = Reflect.get(prototype, method) as (...args: unknown[]) => unknown;
  vi.spyOn(prototype as Record<string, typeof original>, method).mockImplementation(function (
    this: unknown,
    ...args
  ) {
    const [sql] = args;
    const fault = sql === 'ROLLBACK' || String(sql).startsWith('PRAGMA') ? 'none' : next();
    const isDone = fault === 'none' || (fault === 'after' && sql !== 'BEGIN IMMEDIATE');
    const result = isDone ? Reflect.apply(original, this, args) : undefined;
    if (fault !== 'none') throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
    return result;
  });
}

ledgerRandomSuite('SQLite', createDatabase, {
  inject(next) {
    vi.restoreAllMocks();
    if (next === null) return;
    failAt(next, StatementSync.prototype, 'run');
    failAt(next, StatementSync.prototype, 'all');
    failAt(next, DatabaseSync.prototype, 'exec');
  },
});

/** Runs a script in a Node process of its own; `store` is the open store. */
async function inProcess(file: string, script: string): Promise<{ stdout: string }> {
  const code = `
    const { openSqliteStore } = await import(${JSON.stringify(import.meta.resolve('../src/sqlite.ts'))});
    const store = await openSqliteStore(${JSON.stringify(file)});
    ${script}`;
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
}

describe('SQLite', () => {
  it('is opened fresh by several processes at once, which then share it', async () => {
    const file = newFile();
    const put = (id: number): string => `
      const row = { profile: 'nano', tenant: null, body: '"x"', issuedAt: 0, expiresAt: 1 };
      const ids = Array.from({ length: 20 }, (_, i) => '${id}-' + i);
      await Promise.all(ids.map((id) => store.putReceipt({ id, ...row })));
      for (let i = 0; i < 500; i += 1) if ((await store.consume('shared', 1200, 1)).allowed) console.log('allowed');
      await store.close();`;
    const outputs = await Promise.all([1, 2, 3].map((id) => inProcess(file, put(id))));
    const allowed = outputs.flatMap(({ stdout }) => stdout.match(/allowed/g) ?? []);
    expect(allowed).toHaveLength(1_200);
    const store = await openSqliteStore(file);
    for (const id of [1, 2, 3]) {
      expect(await store.getReceipt(`${id}-19`)).toMatchObject({ kind: 'found' });
    }
    expect(await store.consume('shared', 1_200, 1)).toEqual({ allowed: false, used: 1_200 });
    await store.close();
  });

  it('waits for another process that makes the same file', async () => {
    const file = newFile();
    const other = new DatabaseSync(file);
    other.exec('begin immediate; create table theirs (x)');
    const opening = openSqliteStore(file);
    other.exec('commit');
    other.close();
    const store = await opening;
    expect(await store.getReceipt('none')).toEqual({ kind: 'unknown' });
    await store.close();
  });

  it('waits for the transaction of another process, in the order asked, and stops nothing else', async () => {
    const file = newFile();
    const store = await openSqliteStore(file);
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const done: string[] = [];
    const writes = ['first', 'second', 'third'].map(async (name, index) => {
      const counters = await Promise.all([
        store.consume(name, 1, 1),
        store.log.accept({ hashes: [new Uint8Array(32).fill(index)], batchAt: 60, quota: null }),
      ]);
      done.push(name);
      return counters;
    });
    for (let turn = 0; turn < 100; turn++) {
      expect(await store.getReceipt('none')).toEqual({ kind: 'unknown' });
      await setImmediate();
    }
    expect(done).toEqual([]);
    const early = store.putDocument('name', 1, 'early');
    other.exec('commit');
    expect([await store.putDocument('name', 1, 'late'), await early]).toEqual(['stale', 'stored']);
    const late = store.consume('first', 1, 1);
    await Promise.all(writes);
    expect(await late).toEqual({ allowed: false, used: 1 });
    expect((await allLeaves(store.log)).map(({ hash }) => hash[0])).toEqual([0, 1, 2]);
    other.close();
    await store.close();
  });

  it('gives up waiting for a transaction of another process that does not end', async () => {
    const file = newFile();
    const store = await openSqliteStore(file);
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const now = vi.spyOn(performance, 'now');
    onTestFinished(() => now.mockRestore());
    const start = performance.now();
    now.mockImplementation(() => start);
    const waiting = store.consume('counter', 1, 1);
    const outcome = waiting.then(
      () => 'counted',
      (error: unknown) => error,
    );
    await setImmediate();
    now.mockImplementation(() => start + 5_001);
    expect(await outcome).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^The database/),
    });
    other.exec('commit');
    other.close();
    expect(await store.consume('counter', 1, 1)).toEqual({ allowed: true, used: 1 });
    await store.close();
  });

  it('keeps what was answered when the process is killed', async () => {
    const file = newFile();
    const killed = inProcess(
      file,
      `await store.putReceipt(${JSON.stringify(receipt('r1'))});
       process.kill(process.pid, 'SIGKILL');`,
    );
    await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' });
    const store = await openSqliteStore(file);
    expect(await store.getReceipt('r1')).toMatchObject({ kind: 'found' });
    await store.close();
  });

  it('closes when all is on disk that is written meanwhile', async () => {
    const file = newFile();
    const other = await openSqliteStore(file);
    const store = await openSqliteStore(file);
    const first = store.putDocument('first', 1, '1');
    const closed = store.close();
    // Once it waits for the flush, which ends in a later turn of the event loop.
    for (let step = 0; step < 100; step++) await Promise.resolve();
    const second = store.putDocument('second', 1, '1');
    expect(await Promise.all([first, second, closed])).toEqual(['stored', 'stored', undefined]);
    await other.close();
  });

  it('places the hashes of several processes in one line', async () => {
    const file = newFile();
    const accept = `
      const { createHash } = await import('node:crypto');
      const hash = (name) => new Uint8Array(createHash('sha256').update(name).digest());
      const round = (i) => Array.from({ length: 40 }, (_, j) => hash('shared ' + (i * 7 + j)));
      for (let i = 0; i < 30; i += 1) {
        await store.log.accept({ hashes: round(i), batchAt: 60 * i, quota: { counter: 'k', limit: 500, expiresAt: 1 } });
      }
      await store.close();`;
    await Promise.all([1, 2, 3].map(() => inProcess(file, accept)));
    const store = await openSqliteStore(file);
    const leaves = await allLeaves(store.log);
    expect(leaves.map(({ index }) => index)).toEqual(leaves.map((_, index) => index));
    expect(new Set(leaves.map(({ hash }) => hash.toString())).size).toBe(40 + 29 * 7);
    expect(leaves).toHaveLength(40 + 29 * 7);
    expect(await store.consume('k', 0, 1)).toEqual({ allowed: false, used: leaves.length });
    await store.close();
  });

  it('keeps every place that was given when the process is killed in the middle of others', async () => {
    const file = newFile();
    const killed = inProcess(
      file,
      `const { randomBytes } = await import('node:crypto');
       const { writeSync } = await import('node:fs');
       let given = 0;
       const client = async () => {
         for (;;) {
           const { leaves } = await store.log.accept({ hashes: [randomBytes(32)], batchAt: 1, quota: null });
           writeSync(1, leaves[0].index + ' ' + Buffer.from(leaves[0].hash).toString('hex') + '\\n');
           if (++given === 200) process.kill(process.pid, 'SIGKILL');
         }
       };
       await Promise.all(Array.from({ length: 16 }, client));`,
    );
    const { stdout } = (await killed.catch((error: unknown) => error)) as { stdout: string };
    const given = stdout.trim().split('\n');
    expect(given).toHaveLength(200);
    const store = await openSqliteStore(file);
    for (const line of given) {
      const [index, hex = ''] = line.split(' ');
      expect(await store.log.findLeaf(Buffer.from(hex, 'hex'))).toMatchObject({ index: Number(index) });
    }
    await store.close();
  });

  it('keeps every settlement that was answered, and the books balanced, when processes with slices are killed', async () => {
    const file = newFile();
    const store = await openSqliteStore(file);
    const { ledger, claims } = store;
    const accounts = Array.from({ length: 4 }, (_, i) => `caller:key_${i}`);
    for (const account of accounts) await credit(ledger, account, 1_000_000n);
    const fixtures = JSON.stringify(import.meta.resolve('./ledger-fixtures.ts'));
    const script = (name: string): string => `
      const { NOW, settlement } = await import(${fixtures});
      const { writeSync } = await import('node:fs');
      const { ledger, claims } = store;
      await claims.renewLease('${name}', 600);
      let settled = 0;
      const client = async (_, number) => {
        for (let i = 0; ; i += 1) {
          const id = '${name}-' + number + '-' + i;
          const account = 'caller:key_' + ((number + i) % 4);
          await ledger.reserve({ id, account, amount: 100n, expiresAt: NOW + 600, process: '${name}' });
          if (i % 5 === 0) continue;
          await ledger.settle(settlement(id, 70n, { account }));
          writeSync(1, id + '\\n');
          if (++settled === 150) process.kill(process.pid, 'SIGKILL');
        }
      };
      await Promise.all(Array.from({ length: 16 }, client));`;
    const names = ['p', 'q', 'r'];
    const killed = names.map((name) => inProcess(file, script(name)).catch((error: unknown) => error));
    const outputs = (await Promise.all(killed)) as { stdout: string }[];
    const settled = outputs.flatMap(({ stdout }) => stdout.trim().split('\n'));
    expect(settled).toHaveLength(450);

    const connection = new DatabaseSync(file);
    const slices = connection.prepare(`select process from reservations where slice = 'open'`).all();
    connection.close();
    expect(new Set(slices.map((row) => row['process'])).size).toBe(3);
    const books = async () => {
      const { sum, faults } = await ledger.checkBalanced();
      return { sum, faults };
    };
    expect(await books()).toEqual({ sum: 0n, faults: [] });
    for (const name of names) await claims.endLease(name);
    while ((await ledger.expireReservations(NOW)) > 0);
    expect(await ledger.reserved()).toBe(0n);
    expect(await books()).toEqual({ sum: 0n, faults: [] });
    const { postings } = await ledger.checkBalanced();
    expect(postings).toBeGreaterThanOrEqual(454);
    const read = await Promise.all(settled.map((id) => store.getReceipt(id)));
    expect(read.every(({ kind }) => kind === 'found')).toBe(true);
    expect((await ledger.balance('provider:openai')).balance).toBe(70n * BigInt(postings - 4));
    await store.close();
  });

  it('backs up a consistent prefix while it is written, replacing an older copy', async () => {
    const store = await openSqliteStore(newFile());
    mkdirSync(join(folder, 'copies'));
    const target = join(folder, 'copies', 'backup.db');
    const ids = Array.from({ length: 8_000 }, (_, i) => `r${i}`);
    const put = async (some: string[]): Promise<void> => {
      for (let i = 0; i < some.length; i += 100) {
        await Promise.all(some.slice(i, i + 100).map((id) => store.putReceipt(receipt(id))));
      }
    };
    await store.backup(target);
    await put(ids.slice(0, 4_000));
    await Promise.all([store.backup(target), put(ids.slice(4_000))]);
    await store.close();

    expect(readdirSync(join(folder, 'copies'))).toEqual(['backup.db']);
    const connection = new DatabaseSync(target);
    expect(connection.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    connection.close();
    const copy = await openSqliteStore(target);
    const read = await Promise.all(ids.map((id) => copy.getReceipt(id)));
    const copied = read.filter(({ kind }) => kind === 'found').length;
    expect(copied).toBeGreaterThanOrEqual(4_000);
    expect(read.slice(0, copied).every(({ kind }) => kind === 'found')).toBe(true);
    await copy.close();
  });

  it('gives the space of what was purged back, a little at a time, but for an eighth of the file', async () => {
    const file = newFile();
    const store = await openSqliteStore(file);
    const put = async (ids: string[], expiresAt: number): Promise<void> => {
      const body = JSON.stringify('x'.repeat(2_000));
      await Promise.all(ids.map((id) => store.putReceipt({ ...receipt(id), body, expiresAt })));
    };
    const ids = (name: string): string[] => Array.from({ length: 2_000 }, (_, i) => `${name}-${i}`);
    await put(ids('old'), 1);
    await put(ids('new'), 9);
    expect(await store.giveBack(100)).toBe(0);
    while ((await store.purge(5, 250)).receipts > 0);
    const given: number[] = [];
    do given.push(await store.giveBack(100));
    while (given.at(-1) !== 0);
    expect(Math.max(...given)).toBe(100);
    await store.close();
    const connection = new DatabaseSync(file);
    const pragma = (name: string): unknown => connection.prepare(`PRAGMA ${name}`).get()?.[name];
    expect(pragma('integrity_check')).toBe('ok');
    const [pages, free] = [Number(pragma('page_count')), Number(pragma('freelist_count'))];
    connection.close();
    expect(statSync(file).size).toBe(pages * 8_192);
    expect(free).toBeLessThanOrEqual(pages / 8 + 1);
    expect(given.reduce((sum, one) => sum + one)).toBeGreaterThan(pages / 2);
    const again = await openSqliteStore(file);
    expect(await again.getReceipt('new-1999')).toMatchObject({ kind: 'found' });
    expect(await again.getReceipt('old-0')).toMatchObject({ kind: 'purged' });
    await again.close();
  });

  it('leaves the size of a file that an earlier release made', async () => {
    const file = newFile();
    const earlier = new DatabaseSync(file);
    earlier.exec('create table theirs (x); insert into theirs values (zeroblob(1000000)); drop table theirs');
    earlier.close();
    const store = await openSqliteStore(file);
    expect(await store.giveBack(100)).toBe(0);
    await store.close();
    expect(statSync(file).size).toBeGreaterThan(1_000_000);
  });

  it('lets nobody else read the database and its copies, whatever the umask', async () => {
    const umask = process.umask(0);
    const file = newFile();
    const copy = `${file}.copy`;
    const store = await openSqliteStore(file);
    await store.putReceipt(receipt('r1'));
    await store.backup(copy);
    process.umask(umask);
    const modes = [file, `${file}-wal`, `${file}-shm`, copy].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
    await store.close();
  });

  it('is opened through a link, and flushes the log beside the file itself', async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    const link = newFile();
    symlinkSync(join(disk, 'real.db'), link);
    const store = await openSqliteStore(link);
    await store.putReceipt(receipt('r1'));
    expect(readdirSync(disk)).toContain('real.db-wal');
    await store.close();
  });

  it('refuses a file that is no database', async () => {
    const file = newFile();
    writeFileSync(file, 'no database, but long enough to be looked at'.repeat(100));
    await expect(openSqliteStore(file)).rejects.toThrow('not a database');
  });
});

describe('the statements of SQLite', () => {
  const names = (connection: DatabaseSync, condition: string): string[] =>
    connection
      .prepare(`select name from sqlite_master where ${condition} order by name`)
      .all()
      .map(({ name }) => String(name));

  it('read no table through that grows', () => {
    const statements = seen.all();
    expect(statements.length, 'Run the whole file: its suites run the statements.').toBeGreaterThan(300);
    const connection = new DatabaseSync(template);
    onTestFinished(() => connection.close());
    const partial = new Set(names(connection, `type = 'index' and sql like '% where %'`));
    const through = statements.flatMap((sql) => {
      const plan = connection
        .prepare(`explain query plan ${sql}`)
        .all()
        .map(({ detail }) => String(detail));
      // In the order of an index, up to a limit, only what is wanted is read.
      if (/ limit /.test(sql) && !plan.some((step) => step.includes('TEMP B-TREE'))) return [];
      const tables = plan.flatMap((step) => {
        const [, table = '', index = ''] =
          /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(step) ?? [];
        return grows(table) && !partial.has(index) ? [table] : [];
      });
      return tables.length > 0 ? [{ tables, sql }] : [];
    });
    expect(through).toEqual([]);
  });

  it('are about the tables that the page on tables describes', () => {
    const connection = new DatabaseSync(template);
    expect(names(connection, `type = 'table'`)).toEqual([...documentedTables.keys()].toSorted());
    connection.close();
  });
});
