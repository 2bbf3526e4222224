import { existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import {
  EXIT,
  type Exit,
  paint,
  print,
  printable,
  printJson,
  remark,
  unreadable,
  writeAtomically,
} from '@tallystick/cli/toolkit';
import { formatTimestamp, TallyError, toHex, type VerifierKey } from '@tallystick/core';
import { followLog, type MonitorState, type Sighting } from '../index.ts';

export interface MonitorOptions {
  readonly url: string;
  readonly vkey: VerifierKey;
  readonly state: string;
  /** Seconds between two checks. */
  readonly every: number;
  readonly once?: boolean;
  readonly json?: boolean;
}

/** Follows a log from outside until it forks or rolls back, or with `once` checks it a single time. */
export async function monitor(options: MonitorOptions): Promise<Exit> {
  const { url, vkey, every, once } = options;
  const state = fileState(options.state);
  for (;;) {
    const sighting = await sight(() => followLog({ fetch, url, vkey, state }), once === true);
    if (sighting !== null) {
      printSighting(sighting, options);
      if (!('checkpoint' in sighting)) return EXIT.failed;
    }
    if (once) return EXIT.ok;
    await setTimeout(every * 1000);
  }
}

/** Null where the log could not be reached, and will be tried again. */
async function sight(followOnce: () => Promise<Sighting>, once: boolean): Promise<Sighting | null> {
  try {
    return await followOnce();
  } catch (error) {
    if (once || !(error instanceof TallyError) || error.code !== 'unavailable') throw error;
    remark(`${formatTimestamp(Date.now())}  ${error.message} Trying again later.`);
    return null;
  }
}

/** Keeps the newest checkpoint seen in a file that is replaced whole. */
function fileState(path: string): MonitorState {
  return {
    async load() {
      try {
        return existsSync(path) ? readFileSync(path, 'utf8') : null;
      } catch (error) {
        throw unreadable(path, error);
      }
    },
    async save(note) {
      writeAtomically(path, note, 0o644);
    },
  };
}

function printSighting(sighting: Sighting, { url, vkey, once, json }: MonitorOptions): void {
  const at = formatTimestamp(Date.now());
  if (json) {
    const seen = { at, origin: vkey.name, ...account(sighting) };
    return once ? printJson(seen) : print(JSON.stringify(seen));
  }
  const { kind } = sighting;
  if ('checkpoint' in sighting) {
    const { size, root } = sighting.checkpoint;
    return print(`${at}  ${kind.padEnd(9)}  ${size} leaves  ${toHex(root)}`);
  }
  const what =
    kind === 'fork'
      ? 'has signed two trees that contradict each other'
      : 'shows fewer leaves than it has signed before';
  print(`${at}  ${paint('bold', paint('red', kind.toUpperCase()))}: ${vkey.name} at ${url} ${what}.`);
  print('Keep both of these signed notes: they prove it.\n');
  for (const note of [sighting.earlier, sighting.later]) print(note.split('\n').map(printable).join('\n'));
}

function account(sighting: Sighting): Record<string, unknown> {
  if (!('checkpoint' in sighting)) return { ...sighting };
  const { kind, checkpoint } = sighting;
  return { kind, size: checkpoint.size, root: toHex(checkpoint.root) };
}
