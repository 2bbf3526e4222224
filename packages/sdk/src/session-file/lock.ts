import { constants, copyFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { canonicalize, isObject, parseJson, TallyError, utf8 } from '@tallystick/core';

/** Time between two attempts to take a lock, in milliseconds. */
const RETRY_MS = 10;
/** Time in which a process that made a lock has written its name into it. */
const NAMING_MS = 10_000;

/** Locks that this process holds. */
const held = new Set<string>();

/**
 * Takes a lock file, which holds the process id and the host of whoever has it. That of a process of this host that is gone
 * is taken over. A lock of another host is never taken over, because nobody here can see its process.
 * @param waitMs how long to wait for whoever has it
 * @returns gives the lock back; only the first call does
 * @throws session_in_use
 */
export async function takeLock(path: string, waitMs: number): Promise<() => void> {
  const deadline = performance.now() + waitMs;
  while (!tryLock(path)) {
    if (performance.now() >= deadline) {
      const holder = textOf(path)?.trim() ?? '';
      throw new TallyError(
        'session_in_use',
        `Another process records in this session (${holder}). If none does, remove ${path}.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return () => {
    if (held.delete(path)) rmSync(path, { force: true });
  };
}

function tryLock(path: string): boolean {
  if (!make(path)) {
    const found = textOf(path);
    if (found !== null && (isHeld(path, found) || !removeStale(path, found))) return false;
    if (!make(path)) return false;
  }
  held.add(path);
  return true;
}

/** Returns false if the file exists. */
function make(path: string): boolean {
  try {
    writeFileSync(path, `${canonicalize({ host: hostname(), pid: process.pid })}\n`, {
      flag: 'wx',
      mode: 0o600,
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isHeld(path: string, text: string): boolean {
  const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  const holder = holderIn(text);
  if (holder === null) return Date.now() - made < NAMING_MS;
  if (holder.host !== hostname()) return true;
  // Its process can have neither outlived this machine's start, nor be this process if that is younger.
  const since = (seconds: number): number => Date.now() - seconds * 1_000;
  if (holder.pid === process.pid) return held.has(path) || made >= since(process.uptime());
  return made >= since(uptime()) && isAlive(holder.pid);
}

function holderIn(text: string): { readonly host: string; readonly pid: number } | null {
  try {
    const holder = parseJson(utf8(text));
    if (!isObject(holder)) return null;
    const { host, pid } = holder;
    return typeof host === 'string' && typeof pid === 'number' && pid > 0 ? { host, pid } : null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Removes a lock unless another process has replaced it meanwhile. Returns whether it did. */
function removeStale(path: string, text: string): boolean {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return true;
  }
  try {
    if (textOf(aside) === text) return true;
    copyFileSync(aside, path, constants.COPYFILE_EXCL);
    return false;
  } finally {
    rmSync(aside, { force: true });
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
