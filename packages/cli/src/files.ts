import {
  closeSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from './output.ts';

/**
 * Writes a file so that a crash leaves the old one or the new one, never half of either. The new one belongs to the user and
 * group of the old one. @throws UsageError where this is not allowed
 */
export function writeAtomically(path: string, text: string, mode: number): void {
  const temporary = `${path}.${process.pid}.new`;
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      giveToOwnerOf(path, file);
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw unwritable(path, error);
  }
}

/** Gives a new file to the owner of the old one, whose service could not read it if root's command kept it. @throws UsageError */
function giveToOwnerOf(path: string, file: number): void {
  const old = statSync(path, { throwIfNoEntry: false });
  const made = fstatSync(file);
  if (old === undefined || (made.uid === old.uid && made.gid === old.gid)) return;
  try {
    fchownSync(file, old.uid, old.gid);
  } catch (cause) {
    throw new UsageError(
      `${path} was left unchanged: it belongs to the user ${old.uid} and the group ${old.gid}, and this user may not give them a new file. Run this command as the user ${old.uid}.`,
      { cause },
    );
  }
}

/** Writes a secret into a new file of mode 0600, down to the disk. @throws UsageError where the file exists */
export function writeSecret(path: string, text: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Writes the file that the user named with --out. An existing file is replaced. */
export function writeOut(path: string, text: string | Uint8Array): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The error for a file that cannot be read. */
export function unreadable(path: string, error: unknown): unknown {
  return explained(
    error,
    {
      ENOENT: `There is no file ${path}.`,
      ENOTDIR: `There is no file ${path}.`,
      EISDIR: `${path} is a folder; a file is needed.`,
      EACCES: `This user may not read ${path}.`,
      EPERM: `This user may not read ${path}.`,
    },
    `${path} cannot be read`,
  );
}

/** The error for a file that cannot be written. */
export function unwritable(path: string, error: unknown): unknown {
  return explained(
    error,
    {
      ENOENT: `There is no folder ${dirname(path)} to write in.`,
      ENOTDIR: `${dirname(path)} is not a folder.`,
      EEXIST: `${path} already exists and was left unchanged. Choose another name.`,
      EISDIR: `${path} is a folder; a file name is needed.`,
      EACCES: `This user may not write ${path}.`,
      EPERM: `This user may not write ${path}.`,
      ENOSPC: `There is no space left to write ${path}.`,
    },
    `${path} cannot be written`,
  );
}

function explained(error: unknown, messages: Readonly<Record<string, string>>, otherwise: string): unknown {
  if (!(error instanceof Error) || !('errno' in error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  return new UsageError(messages[code] ?? `${otherwise}: ${error.message}.`, { cause: error });
}
