import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { printJson, remark, UsageError, unwritable } from '@tallystick/cli/toolkit';
import type { Config } from '../config/config.ts';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

const MIB = 1024 * 1024;

/** Copies the service's database while it is in use: to a file of mode 0600, or PostgreSQL to a folder. */
export async function backup(
  file: string,
  { force, json }: { force?: boolean; json?: boolean },
): Promise<void> {
  const config = serviceConfig();
  assertTarget(config, file, force === true);
  const stop = showProgress(config, `${file}.partial`);
  try {
    await withStore(config, (store) => store.backup(file));
  } catch (error) {
    throw unwritable(file, error);
  } finally {
    stop();
  }
  const bytes = sizeOf(file);
  if (json) printJson({ file: resolve(file), bytes });
  else
    remark(
      `Wrote ${config.database.kind === 'sqlite' ? 'a consistent copy' : 'a base backup'} of ${mib(bytes)} to ${file}. The keys are not in it: back up the keyring separately.`,
    );
}

/** Refuses a backup without a database, into a folder that does not exist, over what is not to be replaced, or over the database itself. */
function assertTarget(config: Config, file: string, force: boolean): void {
  const { database } = config;
  requireDatabase(config);
  if (database.kind === 'sqlite') {
    const live = realpathSync(database.path);
    if ([live, `${live}-wal`, `${live}-shm`].includes(real(file)))
      throw new UsageError(`${file} is the database in use; choose another file.`);
  }
  // A folder that is missing was misspelt, or is on a disk that is not mounted: a copy there would be lost with this disk.
  if (!existsSync(dirname(file))) throw new UsageError(`There is no folder ${dirname(file)} to write in.`);
  if (!existsSync(file)) return;
  // PostgreSQL's copy is a folder: a folder of copies, or the data of a server, would be deleted with all that is in it.
  if (database.kind === 'postgres' && !existsSync(join(file, 'backup_label')))
    throw new UsageError(
      `${file} already exists, is no base backup, and was left unchanged. Choose another name.`,
    );
  if (!force)
    throw new UsageError(
      `${file} already exists and was left unchanged. Choose another name, or replace it with --force.`,
    );
}

function real(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = resolve(dirname(path));
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
}

/** Shows on a terminal how much is copied, a second after the start and then twice a second. */
function showProgress({ database }: Config, partial: string): () => void {
  if (database.kind !== 'sqlite' || !process.stderr.isTTY) return () => {};
  const total = statSync(database.path).size;
  const started = performance.now();
  let shown = false;
  const timer = setInterval(() => {
    const done = statSync(partial, { throwIfNoEntry: false })?.size ?? 0;
    if (performance.now() - started < 1000) return;
    process.stderr.write(`\r  copied ${mib(done)} of about ${mib(total)}\u001b[K`);
    shown = true;
  }, 500);
  return () => {
    clearInterval(timer);
    if (shown) process.stderr.write('\r\u001b[K');
  };
}

/** Size in bytes of a file, or of all files in a folder. */
function sizeOf(path: string): number {
  if (!statSync(path).isDirectory()) return statSync(path).size;
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return files.reduce((bytes, file) => bytes + statSync(join(path, file)).size, 0);
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
