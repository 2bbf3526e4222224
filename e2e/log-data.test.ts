import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  anchorOf,
  createKey,
  fsck,
  hashOf,
  type Key,
  type LogStatus,
  place,
  SOUND,
  statusOf,
  until,
  untilAnchored,
} from './log-client.ts';
import { type Ended, type Env, type Served, serve, tally, temporaryFolder } from './process.ts';

/** Leaves of one full tile and a part of the next. */
const LEAVES = 300;

/** A log with its own development chain, on which all its leaves are anchored, and which has ended. */
const template = temporaryFolder();
let key: Key;
let before: LogStatus;
beforeAll(async () => {
  const env = envOf(template);
  const service = await serve(env);
  key = await createKey('scale', env);
  await extend(service, 0, LEAVES);
  before = await statusOf(service.url);
  await service.kill('SIGTERM');
});

const envOf = (home: string): Env => ({ TALLY_DATA_DIR: home, TALLY_ANCHOR_PERIOD_SECONDS: '1' });

/** A copy of it. */
function newLog(): { home: string; env: Env; database: string } {
  const home = temporaryFolder();
  cpSync(template, home, { recursive: true });
  return { home, env: envOf(home), database: join(home, 'tally.db') };
}

/** Hands in the hashes [from, to), and waits until they are under a root on the chain. */
async function extend({ url }: Served, from: number, to: number): Promise<void> {
  const hashes = Array.from({ length: to - from }, (_, at) => hashOf(`${from + at}`));
  await place(url, key, hashes);
  await untilAnchored(url, to);
}

/** What a start says that is refused. */
const refusal = (env: Env): Promise<string> =>
  serve(env).then(
    () => 'It started.',
    (error: Error) => error.message,
  );

const ENDS = { SIGTERM: { code: 0, stderr: '' }, SIGKILL: { signal: 'SIGKILL' } };
const STACK = / at .*:\d+:\d+/;

describe.concurrent('a log with its data', () => {
  it('goes on where it was after kill -9 and after SIGTERM, chain and all', async () => {
    const { env } = newLog();
    const { origin, verifier_key, chain } = before;
    const results = [];
    for (const [round, signal] of (['SIGKILL', 'SIGTERM'] as const).entries()) {
      const service = await serve(env);
      expect(await statusOf(service.url)).toMatchObject({ origin, verifier_key, chain });
      for (const { hash, result } of results) expect(await anchorOf(service.url, hash)).toEqual(result);
      await extend(service, LEAVES + round, LEAVES + round + 1);
      const hash = hashOf(`${LEAVES + round}`);
      results.push({ hash, result: await anchorOf(service.url, hash) });
      expect(await service.kill(signal)).toMatchObject(ENDS[signal]);
    }
    expect(results.map(({ result }) => result.block_height)).toEqual([2, 3]);
    expect(await fsck(env)).toMatchObject({ ...SOUND, leaves: LEAVES + 2, postings: 3 });
  });

  it('starts with no other origin, chain or key, and is none the worse for the attempt', async () => {
    const { home, env } = newLog();
    const keyring = { TALLY_KEYRING: join(home, 'other.json') };
    const made = await tally(['keys', 'init', '--root-out', join(home, 'root.json')], { ...env, ...keyring });
    expect(made).toMatchObject({ code: 0 });
    const others: [string, Env][] = [
      ['origin', { TALLY_LOG_ORIGIN: 'other.example' }],
      ['chain id', { TALLY_CHAIN_ID: '4242' }],
      ['key', keyring],
    ];
    for (const [what, change] of others) {
      const said = await refusal({ ...env, ...change });
      expect(said).toMatch(
        new RegExp(`The database belongs to the log with the ${what} \\S+, but \\S+ is config`),
      );
      expect(said).not.toMatch(STACK);
    }
    const service = await serve(env);
    await extend(service, LEAVES, LEAVES + 1);
    await service.kill('SIGTERM');
    expect(await fsck(env)).toMatchObject({ ...SOUND, leaves: LEAVES + 1, postings: 2 });
  });

  it('does not run from a backup that is older than what it has posted, and says what to do', async () => {
    const { home, env, database } = newLog();
    const copy = join(home, 'backup.db');
    const newest = join(home, 'newest.db');
    const service = await serve(env);
    expect(await tally(['backup', copy], env)).toMatchObject({ code: 0 });
    await extend(service, LEAVES, LEAVES + 1);
    expect(await tally(['backup', newest], env)).toMatchObject({ code: 0 });
    await service.kill('SIGTERM');

    restore(copy, database);
    for (let attempt = 0; attempt < 2; attempt++) {
      const said = await refusal(env);
      expect(said).toMatch(/has sent 2 transactions, but this database knows of 1: it is an older copy/);
      expect(said).toContain('Restore the newest one.');
      expect(said).not.toMatch(STACK);
    }
    expect(await fsck(env)).toMatchObject({ ...SOUND, leaves: LEAVES, postings: 1 });

    restore(newest, database);
    const again = await serve(env);
    await extend(again, LEAVES + 1, LEAVES + 2);
    await again.kill('SIGTERM');
    expect(await fsck(env)).toMatchObject({ ...SOUND, leaves: LEAVES + 2, postings: 3 });
  });
});

/** As the runbook says it. */
function restore(backup: string, database: string): void {
  for (const end of ['-wal', '-shm']) rmSync(`${database}${end}`, { force: true });
  copyFileSync(backup, database);
}

/** The byte columns in which a flipped bit must be found. */
const columns = [
  ['a leaf', 'leaves', 'hash'],
  ['a tile', 'tiles', 'hashes'],
  ['the root of a checkpoint', 'checkpoints', 'root'],
  ['the note of a checkpoint', 'checkpoints', 'note'],
] as const;

/** Flips a bit of a column: of a row and at a place that chance chooses, or of the row that `where` names. */
function flip(database: string, table: string, column: string, where = 'true'): string {
  const connection = new DatabaseSync(database, { timeout: 60_000 });
  const pick = `select rowid as id, ${column} as value from ${table} where ${where} order by random() limit 1`;
  const { id, value } = connection.prepare(pick).get() as { id: number; value: string | Uint8Array };
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value);
  // The signatures of witnesses come last: of another key, which one of another name is, a signature is no fault.
  const own = bytes.indexOf('\n— local-witness');
  const bit = Math.floor(Math.random() * (own === -1 ? bytes.length : own) * 8);
  // A text stays one: its lowest bits make another character of it.
  const mask = typeof value === 'string' ? 1 : 1 << (bit % 8);
  const at = Math.floor(bit / 8);
  bytes.writeUInt8(bytes.readUInt8(at) ^ mask, at);
  const changed = typeof value === 'string' ? bytes.toString() : bytes;
  connection.prepare(`update ${table} set ${column} = ? where rowid = ?`).run(changed, id);
  connection.close();
  return `bit ${bit} of ${column} in row ${id} of ${table}`;
}

describe.concurrent('one flipped bit', () => {
  it.each(columns)('in %s is found by tally log fsck', async (_, table, column) => {
    const { env, database } = newLog();
    const sound = await tally(['log', 'fsck', '--json'], env);
    expect(sound).toMatchObject({ code: 0, stderr: '' });
    const what = flip(database, table, column);
    const { code, stdout }: Ended = await tally(['log', 'fsck', '--json'], env);
    expect({ code, ok: JSON.parse(stdout).ok, what }).toEqual({ code: 1, ok: false, what });
    const [fault] = JSON.parse(stdout).faults as { where: string }[];
    expect(fault?.where).toMatch(
      table === 'leaves' ? /^(?:leaf|tile)/ : new RegExp(`^${table.slice(0, -1)}`),
    );
  });

  it('in the tree that is to grow stops the log: nothing is signed over it, nothing accepted', async () => {
    const { env, database } = newLog();
    const service = await serve(env);
    await extend(service, LEAVES, LEAVES + 1);
    const checkpoint = await (await fetch(`${service.url}/checkpoint`)).text();
    const what = flip(database, 'tiles', 'hashes', 'level = 0 and idx = 1');
    await place(service.url, key, [hashOf('after')]);
    const { accepting } = await until(
      () => statusOf(service.url),
      (status) => status.accepting !== 'ok',
    );
    expect(accepting, what).toMatch(/tree|tile/);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    await expect(place(service.url, key, [hashOf('more')])).rejects.toThrow(/anchor_unavailable/);
    expect(await (await fetch(`${service.url}/checkpoint`)).text()).toBe(checkpoint);
    expect(await statusOf(service.url)).toMatchObject({ tree_size: LEAVES + 1, anchored_size: LEAVES + 1 });
    await service.kill('SIGTERM');
    const stored = new DatabaseSync(database).prepare('select max(size) as size from checkpoints').get();
    expect(stored).toEqual({ size: LEAVES + 1 });
  });
});
