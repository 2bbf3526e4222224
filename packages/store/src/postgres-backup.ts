import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TallyError } from '@tallystick/core';
import { type Kysely, sql } from 'kysely';
import { all, type Work } from './database-work.ts';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';
import { raw, statement } from './statement.ts';

/** What a server says about its archive and about the role that asks. */
interface ArchiveState {
  readonly mode: string;
  readonly target: string;
  readonly level: string;
  /** Whether the newest attempt to archive a file has failed. */
  readonly failing: boolean;
  readonly may_replicate: boolean;
  readonly role: string;
}

const HOW_TO_ARCHIVE =
  "alter system set archive_mode = on; alter system set archive_command = 'test ! -f /archive/%f && cp %p /archive/%f'; and restart PostgreSQL";

/**
 * Writes a base backup to a new folder, after checking that PostgreSQL archives its WAL.
 *
 * @throws {TallyError} `unavailable` if it does not, if the role may not replicate, or if the program is missing or fails
 */
export async function backupPostgres(
  { url, db, read }: { url: string; db: Kysely<Schema>; read: SqlDatabase['read'] },
  path: string,
): Promise<void> {
  assertArchives(await read(readArchiveState(db)));
  await writeBaseBackup(url, path);
}

function* readArchiveState(db: Kysely<Schema>): Work<ArchiveState> {
  const state = statement(() =>
    raw<ArchiveState>(
      db,
      sql`
        select current_setting('archive_mode') as mode, current_setting('wal_level') as level, current_user as role,
          coalesce(nullif(current_setting('archive_library', true), ''), nullif(current_setting('archive_command'), '(disabled)'), '') as target,
          coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false) as failing,
          (select rolreplication or rolsuper from pg_roles where rolname = current_user) as may_replicate
        from pg_stat_archiver as a`,
    ),
  );
  const [row] = yield* all(state, {});
  if (row === undefined) throw new TallyError('unavailable', 'PostgreSQL does not say how it archives.');
  return row;
}

/** @throws {TallyError} `unavailable` if a backup could not be brought forward to the last transaction */
function assertArchives({ mode, target, level, failing, may_replicate, role }: ArchiveState): void {
  const refuse = (message: string): never => {
    throw new TallyError('unavailable', message);
  };
  if (!may_replicate)
    refuse(
      `The database role ${role} may not make a base backup. Allow it: alter role "${role}" replication`,
    );
  if (level === 'minimal')
    refuse('PostgreSQL runs with wal_level = minimal. Set it to replica, and restart it.');
  if (mode === 'off' || target === '')
    refuse(
      `PostgreSQL does not archive its WAL, without which a backup ends with itself and the log cannot go on from it. Set it up: ${HOW_TO_ARCHIVE}`,
    );
  if (failing)
    refuse(
      'PostgreSQL cannot archive its WAL at the moment: the newest attempt has failed. Its own log says why; pg_stat_archiver says which file.',
    );
}

/** Copies the whole server, with the WAL that makes the copy consistent. The copy gets its name once it is on disk. */
async function writeBaseBackup(url: string, path: string): Promise<void> {
  const partial = `${path}.partial`;
  await rm(partial, { recursive: true, force: true });
  const secrets = await mkdtemp(join(tmpdir(), 'tally-backup-'));
  try {
    const from = `--dbname=${await programUrl(url, secrets)}`;
    const how = ['--format=plain', '--wal-method=stream', '--checkpoint=fast', '--no-password'];
    await runProgram('pg_basebackup', from, `--pgdata=${partial}`, ...how);
  } finally {
    await rm(secrets, { recursive: true });
  }
  await rm(path, { recursive: true, force: true });
  await rename(partial, path);
}

interface Credentials {
  /** The URL without its password, which others on this machine could read among the arguments of a process. */
  readonly address: string;
  readonly password: string | null;
}

function credentials(url: string): Credentials {
  const parameter = /([?&])password=([^&]*)(&?)/.exec(url);
  if (parameter !== null) {
    const [all, before = '', password = '', after] = parameter;
    // One in the parameters counts before one beside the user's name.
    const { address } = credentials(url.replace(all, after === '' ? '' : before));
    return { address, password: decodeURIComponent(password) };
  }
  const found = /^(postgres(?:ql)?:\/\/[^:@/?]*):([^@/?]*)@/.exec(url);
  if (found === null) return { address: url, password: null };
  const [all, before = '', password = ''] = found;
  return { address: `${before}@${url.slice(all.length)}`, password: decodeURIComponent(password) };
}

/** A URL for PostgreSQL's programs, which read the password from a file of the folder. */
async function programUrl(url: string, folder: string): Promise<string> {
  const { address, password } = credentials(url);
  if (password === null) return address;
  const file = join(folder, 'pgpass');
  await writeFile(file, `*:*:*:*:${password.replaceAll(/[\\:]/g, '\\$&')}\n`, { mode: 0o600 });
  return `${address}${address.includes('?') ? '&' : '?'}passfile=${encodeURIComponent(file)}`;
}

async function runProgram(program: string, ...args: string[]): Promise<void> {
  try {
    await promisify(execFile)(program, args);
  } catch (cause) {
    const { code, stderr } = cause as { code?: unknown; stderr?: string };
    throw new TallyError(
      'unavailable',
      code === 'ENOENT'
        ? `There is no program ${program} here. It comes with PostgreSQL, and must not be older than the server (Debian: apt-get install postgresql).`
        : `${program} failed: ${stderr?.trim() ?? ''}`,
      { cause },
    );
  }
}
