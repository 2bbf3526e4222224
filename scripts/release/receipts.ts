// Receipts of a release: `node scripts/release/receipts.ts <folder>` has a receipt emitted and anchored for each file in SHA256SUMS
// of the folder, verifies it, and writes receipts/<file>.receipt.json, receipts/<file>.anchor.json and receipts/trust.json there. The
// service is that of TALLY_URL, with the API key in TALLY_API_KEY; without TALLY_URL, one of its own with a development chain.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT, run } from './commands.ts';

const MEDIA_TYPE = 'application/octet-stream';
const TALLY = join(ROOT, 'packages/cli/bin/tally.js');

type Env = Readonly<Record<string, string>>;

/** Where receipts are issued: the environment in which `tally` talks to it. */
interface Issuer {
  readonly env: Env;
  stop(): Promise<void>;
}

/**
 * @param folder with a SHA256SUMS in the form of sha256sum
 * @returns how many files have a receipt
 * @throws Error where a receipt is refused, is of something else, or does not verify
 */
export async function receiptsFor(folder: string): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'tally-release-'));
  const issuer = process.env['TALLY_URL'] === undefined ? await startService(home) : configuredService(home);
  const tally = (...args: readonly string[]): string => run(process.execPath, [TALLY, ...args], issuer.env);
  const at = (name: string): string => join(folder, 'receipts', name);
  try {
    mkdirSync(join(folder, 'receipts'), { recursive: true });
    const trust = at('trust.json');
    tally('trust', 'fetch', '--out', trust);
    const files = checksums(folder);
    for (const [file, sha256] of files) {
      const purpose = `release of ${basename(file)}`;
      const out = ['--anchor', '--out', at(`${basename(file)}.receipt.json`)];
      tally('emit', '--sha256', sha256, '--purpose', purpose, '--content-type', MEDIA_TYPE, ...out);
    }
    for (const [file, sha256] of files) {
      const receipt = at(`${basename(file)}.receipt.json`);
      const anchor = at(`${basename(file)}.anchor.json`);
      if (!readFileSync(receipt, 'utf8').includes(sha256)) throw new Error(`${receipt} is not of ${file}.`);
      tally('anchor', 'get', receipt, '--wait', '--out', anchor);
      tally('verify', receipt, '--anchor', anchor, '--trust', trust);
    }
    return files.length;
  } finally {
    await issuer.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

function checksums(folder: string): readonly (readonly [string, string])[] {
  const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');
  return lines.map((line) => [line.slice(66), line.slice(0, 64)] as const);
}

function configuredService(home: string): Issuer {
  return { env: { TALLY_HOME: home }, stop: async () => {} };
}

async function startService(home: string): Promise<Issuer> {
  const env = {
    PORT: '0',
    TALLY_HOME: home,
    TALLY_DATA_DIR: join(home, 'data'),
    TALLY_ANCHOR_PERIOD_SECONDS: '2',
    TALLY_LOG_LEVEL: 'error',
  };
  const child = spawn(process.execPath, [TALLY, 'serve'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  for await (const line of createInterface(child.stdout)) {
    const url = /ready on (http:\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    const key = run(process.execPath, [TALLY, 'apikey', 'create', '--tier', 'pro'], env).trim();
    return {
      env: { ...env, TALLY_URL: url, TALLY_API_KEY: key },
      stop: async () => {
        child.kill('SIGTERM');
        await closed;
      },
    };
  }
  throw new Error('The service ended before it was ready.');
}

if (import.meta.main) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error('Usage: node scripts/release/receipts.ts <folder>');
  process.stdout.write(`${await receiptsFor(folder)} files have a receipt that is anchored and verified.\n`);
}
