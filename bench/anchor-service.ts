import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseAnchorRef } from '@tallystick/core';
import type { Target } from './load.ts';

const TALLY = fileURLToPath(new URL('../packages/cli/bin/tally.js', import.meta.url));

/** A service under test, and the hashes that were submitted to it: the one in the log at `index` is `hashAt(index)`. */
export class AnchorService {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  #sent = 0;

  /** Creates an enterprise key in the service's database. */
  constructor(url: string, dataDir: string) {
    const made = execFileSync(
      process.execPath,
      [TALLY, 'apikey', 'create', '--tier', 'enterprise', '--json'],
      {
        env: { ...process.env, TALLY_DATA_DIR: dataDir },
        stdio: ['ignore', 'pipe', 'ignore'],
        encoding: 'utf8',
      },
    );
    const { key } = JSON.parse(made) as { key: string };
    this.url = url;
    this.headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  }

  /** A request that submits one new hash. */
  readonly single = (): Target => ({
    path: '/v1/anchor',
    body: JSON.stringify({ canonical_sha256: this.#newHash() }),
  });

  /** A request that submits that many new hashes. */
  batch(hashes: number): Target {
    const canonical_sha256 = Array.from({ length: hashes }, () => this.#newHash());
    return { path: '/v1/anchor/batch', body: JSON.stringify({ canonical_sha256 }) };
  }

  /** A request for the state of the hash at an index in the log. */
  lookUp(index: number): Target {
    return { path: `/v1/anchor/by-hash/${hashAt(index)}` };
  }

  /** Submits one hash and returns its index in the log. */
  async submit(): Promise<number> {
    const { anchor_ref } = await this.#post<{ anchor_ref: string }>(this.single());
    return parseAnchorRef(anchor_ref).index;
  }

  /** Submits that many hashes, 10,000 at a time. Returns the seconds that it took. */
  async fill(hashes: number): Promise<number> {
    const start = performance.now();
    for (let left = hashes; left > 0; left -= 10_000) await this.#post(this.batch(Math.min(left, 10_000)));
    return (performance.now() - start) / 1000;
  }

  /** Resolves once the first `size` leaves are under a root that is final on the chain. */
  async anchored(size: number): Promise<void> {
    for (;;) {
      const { anchored_size } = (await (await fetch(`${this.url}/v1/log`)).json()) as {
        anchored_size: number;
      };
      if (anchored_size >= size) return;
      await setTimeout(200);
    }
  }

  #newHash(): string {
    return hashAt(this.#sent++);
  }

  async #post<T>({ path, body = '' }: Target): Promise<T> {
    const answer = await fetch(this.url + path, { method: 'POST', headers: this.headers, body });
    if (answer.status !== 200) throw new Error(await answer.text());
    return (await answer.json()) as T;
  }
}

function hashAt(index: number): string {
  return hash('sha256', `hash ${index}`, 'base64url');
}
