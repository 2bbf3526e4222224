import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { S3Server } from '../../packages/log/test/bucket.ts';
import { freePort } from '../../packages/server/test/free-port.ts';
import { goProgram } from './go-modules.ts';

/** A running versitygw: a server that speaks S3's interface and keeps its objects in a folder. */
export interface Versitygw extends S3Server {
  /** URL of the website of the bucket that is named `localhost`. */
  readonly website: string;
  /** Starts it again, with its data and addresses. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** @param folder where it has its files */
export async function startVersitygw(folder: string): Promise<Versitygw> {
  const program = goProgram('github.com/versity/versitygw/cmd/versitygw', 'v1.8.0');
  const [api, website] = [await freePort(), await freePort()];
  const [accessKeyId, secretAccessKey] = ['versity', 'a secret of the test'];
  const [data, sidecar] = [join(folder, 'data'), join(folder, 'sidecar')];
  for (const path of [data, sidecar]) mkdirSync(path);
  const listen = [`--port=127.0.0.1:${api}`, `--website=127.0.0.1:${website}`];
  const endpoint = `http://127.0.0.1:${api}`;
  let running: ChildProcess;
  const server: Versitygw = {
    endpoint,
    accessKeyId,
    secretAccessKey,
    website: `http://localhost:${website}`,
    start: async () => {
      running = spawn(program, [...listen, '--quiet', 'posix', '--sidecar', sidecar, data], {
        stdio: 'ignore',
        env: { ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey },
      });
      await vi.waitFor(() => fetch(endpoint), { timeout: 60_000 });
    },
    stop: async () => {
      const exited = once(running, 'exit');
      running.kill('SIGTERM');
      await exited;
    },
  };
  await server.start();
  return server;
}
