import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { emptyRoot } from '@tallystick/core';
import { vi } from 'vitest';
import { freePort } from '../../packages/server/test/free-port.ts';
import { goProgram } from './go-modules.ts';

/** Litewitness, the witness of torchwood, in a process of its own. */
export interface Litewitness {
  readonly name: string;
  readonly verifierKey: string;
  readonly url: string;
  /** Makes it cosign for a log. @param logKey verifier key of the log, whose name is its origin */
  follow(origin: string, logKey: string): void;
  /** Ends it and starts it again, with its key and what it has cosigned. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a litewitness with a new key. The agent that holds the key ends with it. @param folder where both have their files */
export async function startLitewitness(name: string, folder: string): Promise<Litewitness> {
  const program = goProgram('filippo.io/torchwood/cmd/litewitness', 'v0.10.0');
  const file = (end: string): string => join(folder, `${name}.${end}`);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file('key')]);
  const shown = execFileSync('ssh-keygen', ['-l', '-f', file('key')], { encoding: 'utf8' });
  const address = `127.0.0.1:${await freePort()}`;
  const options = {
    name,
    db: file('db'),
    key: shown.split(' ')[1],
    listen: address,
  };
  const args = Object.entries(options).map(([option, value]) => `-${option}=${value}`);
  let starts = 0;
  async function start(): Promise<{ stop: () => Promise<void>; verifierKey: string }> {
    // The agent before it may still be there: it ends up to ten seconds after the program that it was started for.
    starts += 1;
    const agent = file(`agent-${starts}`);
    const withKey = ['sh', '-c', 'ssh-add -q "$0" && exec "$@"', file('key'), program, ...args];
    const child = spawn('ssh-agent', ['-a', agent, ...withKey, `-ssh-agent=${agent}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exited = once(child, 'exit');
    const stop = async (): Promise<void> => {
      child.kill('SIGINT');
      await exited;
    };
    const verifierKey = await announcedKey(child.stderr);
    await vi.waitFor(() => fetch(`http://${address}/`), { timeout: 60_000 });
    return { stop, verifierKey };
  }
  let running = await start();
  const { verifierKey } = running;
  return {
    name,
    verifierKey,
    url: `http://${address}`,
    follow(origin, logKey) {
      // As its `witnessctl add-log` and `add-key` do.
      const database = new DatabaseSync(file('db'));
      const root = Buffer.from(emptyRoot()).toString('base64');
      database.prepare('INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)').run(origin, root);
      database.prepare('INSERT INTO key (origin, key) VALUES (?, ?)').run(origin, logKey);
      database.close();
    },
    async restart() {
      await running.stop();
      running = await start();
    },
    stop: () => running.stop(),
  };
}

/** The verifier key that it writes before it listens. */
async function announcedKey(output: NodeJS.ReadableStream): Promise<string> {
  let said = '';
  for await (const line of createInterface(output)) {
    said += `${line}\n`;
    const key = /msg="verifier key" vkey="?([^"\s]+)/.exec(line)?.[1];
    if (key !== undefined) return key;
  }
  throw new Error(`litewitness ended: ${said}`);
}
