import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type InPage, verifyInPage } from './evidence-page.ts';
import { type Downloaded, EvidenceRoom, TALLY } from './evidence-room.ts';
import type { Loaded } from './load.ts';
import { memory, pinned, readyUrl, SERVE, stop } from './processes.ts';
import type { Report } from './report.ts';

const DEFAULT_RECEIPTS = 100_000;
/** How often the command is timed with and without a policy, in turn. */
const ROUNDS = 5;
/** Short, so that everything emitted is soon anchored. */
const PERIOD_SECONDS = '5';

/**
 * Emits a tenant's receipts, anchors them, exports them as a bundle and verifies it offline: by the command line, and in Chromium
 * by the page in the bundle. Any wrong result ends the run.
 */
export async function evidence({ receipts = DEFAULT_RECEIPTS }: { receipts?: number }): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const bundle = join(folder, 'bundle.zip');
  try {
    const exported = await exportBundle(folder, bundle, receipts);
    log('verifying by the command line …');
    const byCli = await verifyByCli(bundle);
    const policy = join(folder, 'witness-policy.txt');
    const witnessed = await ratios(ROUNDS, async () => [
      (await verifyByCli(bundle, '--witness-policy', policy)).seconds,
      (await verifyByCli(bundle)).seconds,
    ]);
    log('verifying in Chromium …');
    const inPage = await verifyInPage(bundle, folder);
    for (const found of [byCli.receipts, inPage.receipts]) {
      if (found !== receipts) throw new Error(`Of ${receipts} receipts the bundle holds ${found}.`);
    }
    return report(receipts, exported, byCli, witnessed, inPage);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The median of the ratios of two times. */
async function ratios(rounds: number, times: () => Promise<readonly [number, number]>): Promise<number> {
  const found: number[] = [];
  while (found.length < rounds) {
    const [one, other] = await times();
    found.push(one / other);
  }
  return found.toSorted((a, b) => a - b)[rounds >> 1] ?? Number.NaN;
}

const log = (what: string): boolean => process.stderr.write(`${what}\n`);

interface Exported {
  readonly emitted: Loaded;
  readonly whole: Downloaded;
  readonly rest: Downloaded;
  /** Memory of the server in MB: before the export, and the most in each half of the export. */
  readonly before: number;
  readonly halves: readonly [number, number];
}

async function exportBundle(folder: string, bundle: string, receipts: number): Promise<Exported> {
  const server = pinned(SERVE, {
    PORT: '0',
    TALLY_DATA_DIR: folder,
    TALLY_LOG_LEVEL: 'error',
    TALLY_ANCHOR_PERIOD_SECONDS: PERIOD_SECONDS,
  });
  try {
    const room = new EvidenceRoom(await readyUrl(server), folder);
    log(`emitting ${receipts} receipts …`);
    const emitted = await room.fill(receipts);
    log('exporting …');
    const { result: whole, seen } = await watched(server, () => room.download(bundle));
    const from = Math.floor(whole.bytes / 2);
    const rest = await room.download(null, { etag: whole.etag, from });
    if (rest.sha256 !== (await digestFrom(bundle, from))) throw new Error('The rest is of another bundle.');
    const middle = Math.ceil(seen.length / 2);
    const halves = [Math.max(...seen.slice(0, middle)), Math.max(...seen.slice(middle))] as const;
    return { emitted, whole, rest, before: seen[0] ?? Number.NaN, halves };
  } finally {
    await stop(server);
  }
}

async function digestFrom(path: string, start: number): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path, { start }), digest);
  return digest.digest('hex');
}

interface ByCli {
  readonly seconds: number;
  readonly receipts: number;
  /** Most memory, in MB. */
  readonly most: number;
}

async function verifyByCli(bundle: string, ...options: readonly string[]): Promise<ByCli> {
  const began = performance.now();
  const args = [TALLY, 'evidence', 'verify', bundle, '--json', ...options];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const { result, seen } = await watched(child, () => text(child.stdout));
  const { intact, receipts, witnessed } = JSON.parse(result) as {
    intact: boolean;
    receipts: number;
    witnessed: { satisfied: boolean } | null;
  };
  if (!intact || witnessed?.satisfied === false) throw new Error(result);
  return { seconds: (performance.now() - began) / 1000, receipts, most: Math.max(...seen) };
}

/** Runs `work` and samples the memory (MB) of a process meanwhile. */
async function watched<T>(
  child: ChildProcess,
  work: () => Promise<T>,
): Promise<{ result: T; seen: readonly number[] }> {
  const seen = [memory(child, 'VmRSS')];
  const looking = setInterval(() => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const now = memory(child, 'VmRSS');
    // A process that has ended but was not waited for has no memory.
    if (Number.isFinite(now)) seen.push(now);
  }, 50);
  try {
    return { result: await work(), seen };
  } finally {
    clearInterval(looking);
  }
}

function report(
  receipts: number,
  exported: Exported,
  byCli: ByCli,
  witnessed: number,
  inPage: InPage,
): Report {
  const { emitted, whole, rest, before, halves } = exported;
  const rows = [
    ['emitted over HTTP', emitted.rate, 'receipts/s'],
    ['the bundle', whole.bytes / 1e6, 'MB'],
    ['export: first byte', whole.firstByte, 's'],
    ['export: whole', whole.whole, 's'],
    ['export: its second half again, by Range', rest.whole, 's'],
    ['server memory before', before, 'MB'],
    ['server memory, most in the first half', halves[0], 'MB'],
    ['server memory, most in the second half', halves[1], 'MB'],
    ['tally evidence verify', byCli.seconds, 's'],
    ['the same with a policy of witnesses / without', witnessed, '×'],
    ['tally memory, most', byCli.most, 'MB'],
    ['enclosed page in Chromium', inPage.seconds, 's'],
    ['page heap, most', inPage.heap, 'MB'],
    ['tab memory before', inPage.before, 'MB'],
    ['tab memory, most', inPage.most, 'MB'],
    ['page, longest time between frames', inPage.longestFrame, 'ms'],
  ] as const;
  return {
    title: `An evidence bundle of ${receipts.toLocaleString('en')} anchored receipts`,
    method:
      'Emitted with 64 connections and anchored first; the server on core 0, the rest where the system puts it.',
    rows: rows.map(([name, value, unit]) => ({ name, value, unit })),
  };
}
