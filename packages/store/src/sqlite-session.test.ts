import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SqliteFlush } from './sqlite-flush.ts';
import { SqliteSession } from './sqlite-session.ts';

/** Stands for a disk: each flush ends when a test ends it. */
const disk = {
  flushes: [] as ((error: Error | null) => void)[],
  flush: (): Promise<void> =>
    new Promise((resolve, reject) => {
      disk.flushes.push((error) => (error === null ? resolve() : reject(error)));
    }),
};

const folder = mkdtempSync(join(tmpdir(), 'tally-session-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Opened {
  readonly session: SqliteSession;
  readonly insert: () => void;
  readonly count: () => number;
  readonly close: () => void;
}

let files = 0;
function open(file: string): Opened {
  const connection = new DatabaseSync(file);
  connection.exec('pragma journal_mode = wal; pragma synchronous = normal; create table if not exists t (n)');
  const flush = new SqliteFlush(file, disk.flush);
  return {
    session: new SqliteSession(connection, flush),
    insert: () => connection.exec('insert into t values (1)'),
    count: () => Number(connection.prepare('select count(*) as n from t').get()?.['n']),
    close: () => {
      connection.close();
      flush.close();
    },
  };
}

/** What has become of a promise once everything that needs no disk is done. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  let state = 'waits';
  const settled = promise.then(() => 'told').catch(() => 'failed');
  void settled.then((end) => (state = end));
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  return state;
}

describe('a connection to SQLite', () => {
  let file: string;
  let own: Opened;
  beforeEach(() => {
    file = join(folder, `${files++}.db`);
    own = open(file);
    disk.flushes.length = 0;
  });
  afterEach(() => own.close());

  it('tells of a transaction when it is on disk', async () => {
    const written = own.session.transaction(own.insert);
    expect(await stateOf(written)).toBe('waits');
    expect(own.count()).toBe(1);
    disk.flushes.shift()?.(null);
    expect(await stateOf(written)).toBe('told');
    expect(disk.flushes).toEqual([]);
  });

  it('tells of a relaxed transaction at once, and of what is on disk', async () => {
    expect(await stateOf(own.session.transaction(own.insert, 'relaxed'))).toBe('told');
    expect(await stateOf(own.session.read(own.count))).toBe('told');
    expect(disk.flushes).toEqual([]);
  });

  it('tells nothing that it read of what is not on disk yet', async () => {
    const written = own.session.transaction(own.insert);
    const read = own.session.read(own.count);
    const relaxed = own.session.transaction(own.count, 'relaxed');
    const failed = own.session.read(() => {
      throw new Error('one too many');
    });
    expect(await Promise.all([read, relaxed, failed].map(stateOf))).toEqual(['waits', 'waits', 'waits']);
    disk.flushes.shift()?.(null);
    expect(await Promise.all([written, read, relaxed, failed].map(stateOf))).toEqual([
      'told',
      'told',
      'told',
      'failed',
    ]);
    expect(await read).toBe(1);
  });

  it('puts what is committed during a flush into the next one', async () => {
    const first = own.session.transaction(own.insert);
    const others = [own.session.transaction(own.insert), own.session.transaction(own.insert)];
    expect(disk.flushes).toHaveLength(1);
    disk.flushes.shift()?.(null);
    expect(await stateOf(first)).toBe('told');
    const waiting = [...others, own.session.read(own.count)];
    expect(await Promise.all(waiting.map(stateOf))).toEqual(['waits', 'waits', 'waits']);
    expect(disk.flushes).toHaveLength(1);
    disk.flushes.shift()?.(null);
    expect(await Promise.all(waiting.map(stateOf))).toEqual(['told', 'told', 'told']);
    expect(disk.flushes).toEqual([]);
  });

  it('flushes what another process has committed before it tells of it', async () => {
    const other = open(file);
    void other.session.transaction(other.insert);
    disk.flushes.shift();
    const read = own.session.read(own.count);
    expect(await stateOf(read)).toBe('waits');
    disk.flushes.shift()?.(null);
    expect(await read).toBe(1);
    expect(await stateOf(own.session.read(own.count))).toBe('told');
    other.close();
  });

  it('tells and writes nothing more once a flush has failed', async () => {
    const written = own.session.transaction(own.insert);
    const later = own.session.transaction(own.insert);
    disk.flushes.shift()?.(new Error('EIO'));
    const failure = { code: 'unavailable', message: expect.stringMatching(/mount its file system again/) };
    await expect(written).rejects.toMatchObject(failure);
    await expect(later).rejects.toMatchObject(failure);
    await expect(own.session.read(own.count)).rejects.toMatchObject(failure);
    await expect(own.session.transaction(own.insert)).rejects.toMatchObject(failure);
    await expect(own.session.transaction(own.insert, 'relaxed')).rejects.toMatchObject(failure);
    expect(own.count()).toBe(2);
    expect(disk.flushes).toEqual([]);
  });
});
