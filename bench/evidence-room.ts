import { execFileSync } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Loaded, load } from './load.ts';

export const TALLY = fileURLToPath(new URL('../packages/cli/bin/tally.js', import.meta.url));
const CONNECTIONS = 64;

/** Results of a download; the time is in seconds. */
export interface Downloaded {
  readonly etag: string;
  readonly firstByte: number;
  readonly whole: number;
  readonly bytes: number;
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string;
}

/** A tenant of a service under test, created and used as its operator and its owner would do it. */
export class EvidenceRoom {
  readonly #url: string;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, dataDir: string) {
    const tally = (...args: readonly string[]): string =>
      execFileSync(process.execPath, [TALLY, 'tenant', ...args], {
        env: { ...process.env, TALLY_DATA_DIR: dataDir },
        stdio: ['ignore', 'pipe', 'ignore'],
        encoding: 'utf8',
      }).trim();
    const id = tally('create');
    this.#url = url;
    this.#path = `/tenants/${id}`;
    this.#headers = { 'content-type': 'application/json', authorization: `Bearer ${tally('key', id)}` };
  }

  /** Emits that many receipts, one per request, and waits until all are anchored. */
  async fill(receipts: number): Promise<Loaded> {
    let order = 0;
    const target = () => ({
      path: `${this.#path}/receipts`,
      body: JSON.stringify({ payload: { order: order++ }, purpose: 'order confirmation' }),
    });
    const requests = { method: 'POST', headers: this.#headers, connections: CONNECTIONS, target } as const;
    const loaded = await load(this.#url, requests, { amount: receipts });
    for (let anchored = 0; anchored < receipts; await setTimeout(200)) {
      const log = await (await fetch(`${this.#url}/v1/log`)).json();
      anchored = (log as { anchored_size: number }).anchored_size;
    }
    return loaded;
  }

  /** Downloads the bundle into a file, or with `rest` only counts the bytes of an earlier one from `from` on. */
  async download(
    into: string | null,
    rest?: { readonly etag: string; readonly from: number },
  ): Promise<Downloaded> {
    const range = rest === undefined ? {} : { range: `bytes=${rest.from}-`, 'if-range': rest.etag };
    const began = performance.now();
    const seconds = (): number => (performance.now() - began) / 1000;
    const answer = await this.#get({ ...this.#headers, ...range });
    if (answer.statusCode !== (rest === undefined ? 200 : 206))
      throw new Error(`Answered ${answer.statusCode}.`);
    const firstByte = seconds();
    const digest = createHash('sha256');
    let bytes = 0;
    const through = hashing(digest, (chunk) => {
      bytes += chunk;
    });
    if (into === null) await pipeline(answer, through.resume());
    else await pipeline(answer, through, createWriteStream(into));
    return {
      etag: answer.headers.etag ?? '',
      firstByte,
      whole: seconds(),
      bytes,
      sha256: digest.digest('hex'),
    };
  }

  #get(headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      request(`${this.#url}${this.#path}/evidence`, { headers }, resolve).on('error', reject).end();
    });
  }
}

function hashing(digest: Hash, count: (bytes: number) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      digest.update(chunk);
      count(chunk.length);
      done(null, chunk);
    },
  });
}
