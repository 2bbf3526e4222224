import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Shape } from './rows.ts';

const TALLY = fileURLToPath(new URL('../../packages/cli/bin/tally.js', import.meta.url));
/** Rows of a transaction. */
export const BATCH = 5_000;

export interface Key {
  readonly id: string;
  readonly key: string;
}

/** Writes the rows of a list through the store. */
export async function fill<R>(
  shape: Shape,
  put: (rows: readonly R[]) => Promise<void>,
  make: (index: number, shape: Shape) => R,
  say: (what: string) => void,
): Promise<void> {
  for (let index = 0; index < shape.rows; index += BATCH) {
    const length = Math.min(BATCH, shape.rows - index);
    await put(Array.from({ length }, (_, n) => make(index + n, shape)));
    if (index % 100_000 === 0) say(`${index} of ${shape.rows}`);
  }
}

/** Makes an API key of a service that has its data where `env` says. */
export function newKey(env: Readonly<Record<string, string>>, tier = 'pro'): Key {
  return JSON.parse(tally(env, 'apikey', 'create', '--tier', tier, '--json')) as Key;
}

/** Runs the CLI on the data of a service. */
export function tally(env: Readonly<Record<string, string>>, ...args: readonly string[]): string {
  return execFileSync(process.execPath, [TALLY, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
}
