import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  EXIT,
  type Exit,
  paint,
  print,
  printable,
  printJson,
  readWitnessPolicy,
  remark,
  seenHeads,
  unreadable,
  writeAtomically,
} from '@tallystick/cli/toolkit';
import {
  type ForkFile,
  formatTimestamp,
  TallyError,
  toHex,
  type VerifierKey,
  type WitnessFinding,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import { followLog, type MonitorState, type Sighting } from '@tallystick/log';
import { headsOfOthers } from './heads-of-others.ts';

export interface MonitorOptions {
  readonly url: string;
  readonly vkey: VerifierKey;
  readonly state: string;
  /** Seconds between two checks. */
  readonly every: number;
  readonly once?: boolean;
  readonly witnessPolicy?: string;
  /** Files, folders and URLs with checkpoints that others were shown. */
  readonly compare?: readonly string[];
  /** File that gets the proof of a fork. */
  readonly forkOut?: string;
  readonly json?: boolean;
}

/** Follows a log from outside until it forks or rolls back, or with `once` checks it a single time. */
export async function monitor(options: MonitorOptions): Promise<Exit> {
  const { url, vkey, every, once, compare = [] } = options;
  const state = fileState(options.state);
  const policy = await readWitnessPolicy(options.witnessPolicy);
  const log = { origin: vkey.name, publicKey: vkey.publicKey };
  const own = seenHeads(log);
  for (;;) {
    const look = async (): Promise<Sighting> => {
      // Before the log's own checkpoint is read: a log that grows meanwhile has not rolled back.
      const others = [...(await headsOfOthers(compare, vkey)), ...(await headsIn(own, vkey))];
      return followLog({ fetch, url, vkey, state, others });
    };
    const sighting = await sight(look, once === true);
    if (sighting !== null) {
      const witnessed =
        'note' in sighting ? await policy?.judge(sighting.note, [log], nodeEngine) : undefined;
      printSighting(sighting, options, witnessed);
      if (!('checkpoint' in sighting)) {
        if (sighting.proof !== null) saveFork(sighting.proof, options);
        return EXIT.failed;
      }
      if (once && witnessed?.witnessed.satisfied === false) return EXIT.untrusted;
    }
    if (once) return EXIT.ok;
    await setTimeout(every * 1000);
  }
}

/**
 * Reads the heads that verifications on this machine keep in a folder. It passes over files with other names: a verification that was
 * killed may have left half a head in one. It also passes over a head that is removed while it reads, to make room for a larger tree's.
 */
async function headsIn(folder: string, vkey: VerifierKey): Promise<string[]> {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const heads: string[] = [];
  for (const name of names.filter((one) => one.endsWith('.txt'))) {
    const path = join(folder, name);
    try {
      heads.push(...(await headsOfOthers([path], vkey)));
    } catch (error) {
      if (existsSync(path)) throw error;
    }
  }
  return heads;
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

function saveFork(proof: ForkFile, { forkOut, state }: MonitorOptions): void {
  const path = forkOut ?? `${state}.fork.json`;
  writeAtomically(path, `${JSON.stringify(proof, null, 2)}\n`, 0o644);
  remark(`The proof of the fork is in ${path}. Anybody checks it with: tally log fork verify ${path}`);
}

function printSighting(
  sighting: Sighting,
  { url, vkey, once, json }: MonitorOptions,
  found?: WitnessFinding,
): void {
  const at = formatTimestamp(Date.now());
  if (json) {
    const seen = { at, origin: vkey.name, ...account(sighting), witnessed: found?.witnessed ?? null };
    return once ? printJson(seen) : print(JSON.stringify(seen));
  }
  const { kind } = sighting;
  if ('checkpoint' in sighting) {
    const { size, root } = sighting.checkpoint;
    print(`${at}  ${kind.padEnd(9)}  ${size} leaves  ${toHex(root)}`);
    if (found?.witnessed.satisfied === false)
      print(`${at}  ${paint('bold', paint('red', 'UNWITNESSED'))}: ${found.detail}`);
    return;
  }
  const [word, what] = accusation(sighting);
  print(`${at}  ${paint('bold', paint('red', word))}: ${vkey.name} at ${url} ${what}`);
  const proves = sighting.proof === null ? 'They prove nothing yet' : 'They prove it';
  print(`Keep both of these signed notes. ${proves}.\n`);
  for (const note of [sighting.earlier, sighting.later]) print(note.split('\n').map(printable).join('\n'));
}

/** What a sighting that is not good shows, as a word in capitals and a sentence without its subject. */
function accusation({
  kind,
  proof,
}: Extract<Sighting, { readonly kind: 'rollback' | 'fork' }>): [string, string] {
  if (kind === 'rollback') return ['ROLLBACK', 'shows fewer leaves than it has signed before.'];
  return proof === null
    ? [
        'UNPROVED',
        'shows tiles that do not make up what it signed, so nothing shows that it kept what it signed before.',
      ]
    : ['FORK', 'has signed two trees that contradict each other.'];
}

function account(sighting: Sighting): Record<string, unknown> {
  if (!('checkpoint' in sighting)) return { ...sighting };
  const { kind, checkpoint } = sighting;
  return { kind, size: checkpoint.size, root: toHex(checkpoint.root) };
}
