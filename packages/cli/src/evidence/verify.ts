import { type FileHandle, open } from 'node:fs/promises';
import {
  type AbsentReceipt,
  type BundleProgress,
  type BundleVerdict,
  type ByteSource,
  CLOCK_SKEW,
  EvidenceFault,
  secondsOf,
  TrustForkFault,
  verifyBundle,
  witnessedText,
} from '@tallystick/core';
import { correctionLine } from '../corrections.ts';
import { unreadable } from '../files.ts';
import { nodeSha256 } from '../meter/sha256.ts';
import { EXIT, type Exit, paint, print, printJson, remark } from '../output.ts';
import { printable } from '../printable.ts';
import { bar, ProgressLine } from '../progress-line.ts';
import { saveTrustFork } from '../trust/fork.ts';
import { trustSources } from '../trust-sources.ts';
import { readPolicyFile } from '../witness-policy.ts';
import { ThreadedJudges } from './judges.ts';

export interface BundleFlags {
  readonly trust?: string;
  readonly root?: string;
  readonly witnessPolicy?: string;
  readonly json?: boolean;
}

const WIDTH = 24;

/** Verifies an evidence bundle offline and prints its contents, or why it is refused. */
export async function verifyEvidence(file: string, options: BundleFlags): Promise<Exit> {
  const now = Date.now();
  const { sources, refused } = await trustSources(options.trust, { now, root: options.root });
  for (const { from, reason } of refused) remark(`The saved bundle of ${from} was not used. ${reason}`);
  const roots = [...(options.root === undefined ? [] : [options.root]), ...sources.map(({ root }) => root)];
  const given = options.witnessPolicy === undefined ? null : await readPolicyFile(options.witnessPolicy);
  const progress = new ProgressLine(process.stderr);
  try {
    const verdict = await withFile(file, async (source, descriptor) => {
      let threads: ThreadedJudges | null = null;
      try {
        return await verifyBundle(source, {
          now,
          roots,
          bundles: sources.map(({ bundle }) => bundle),
          sha256: nodeSha256,
          witnessPolicy: given?.policy,
          judges(terms, parts) {
            const start = { ...terms, descriptor, size: source.size, now, policy: given?.bytes ?? null };
            threads = ThreadedJudges.start(start, parts);
            return threads;
          },
          progress: (done) => progress.draw(() => progressText(done)),
        });
      } finally {
        await (threads as ThreadedJudges | null)?.close();
      }
    });
    progress.end();
    return printVerdict(verdict, { known: roots.length > 0, json: options.json === true });
  } catch (error) {
    progress.end();
    if (!(error instanceof EvidenceFault)) throw error;
    if (error instanceof TrustForkFault) await saveFork(error);
    return showRefused(error, options.json === true);
  }
}

function progressText({ bytes, of, receipts }: BundleProgress): string {
  const share = `${bar(bytes / of, WIDTH)} ${Math.floor((100 * bytes) / of)} %`;
  return `${share}  ${receipts.toLocaleString('en')} receipts`;
}

/** Calls `work` with a file of any size, which is read where needed, and its descriptor. @throws UsageError when it can't be read */
async function withFile<T>(
  path: string,
  work: (source: ByteSource, descriptor: number) => Promise<T>,
): Promise<T> {
  let handle: FileHandle;
  try {
    handle = await open(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  try {
    const { size } = await handle.stat().catch((error: unknown) => {
      throw unreadable(path, error);
    });
    return await work({ size, read: (from, to) => readRange(handle, from, to) }, handle.fd);
  } finally {
    await handle.close();
  }
}

async function readRange(handle: FileHandle, from: number, to: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(to - from);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, from + at);
    if (bytesRead === 0) throw new EvidenceFault('zip_end', 'The file became shorter while it was read.');
    at += bytesRead;
  }
  return bytes;
}

function printVerdict(verdict: BundleVerdict, { known, json }: { known: boolean; json: boolean }): Exit {
  const {
    manifest,
    root,
    trusted,
    receipts,
    anchored,
    metering,
    untrusted,
    unlogged,
    purged,
    files,
    witnessed,
  } = verdict;
  const { tenant, period, issued_at, issuer_did } = manifest;
  if (json) {
    const counts = { receipts, anchored, metering, untrusted, unlogged, purged, files };
    const summary = {
      intact: true,
      trusted,
      witnessed,
      root,
      ...counts,
      manifest_sha256: verdict.manifestSha256,
    };
    const { completeness, superseded, corrections } = verdict;
    printJson({ ...summary, tenant, period, issued_at, issuer_did, completeness, superseded, corrections });
  } else {
    const [mark, headline] = trusted
      ? [paint('green', '✓'), 'Intact, and signed under a root that you know']
      : [paint('yellow', '?'), known ? 'Intact, but signed under another root' : 'Intact; compare the root'];
    print(`${mark} ${paint('bold', headline)}`);
    const rows: readonly (readonly [string, string])[] = [
      ['root', root],
      ['issuer', issuer_did],
      ['tenant', tenant],
      ['period', `${period.from} up to ${period.to}, exported ${issued_at}`],
      ['receipts', `${receipts}: ${anchored} anchored, ${metering} for metering`],
      ...(witnessed === null ? [] : [['witnessed', bundleWitnesses(verdict)] as const]),
      ...(verdict.corrections.length === 0 ? [] : [['corrected', correctedText(verdict)] as const]),
      ['purged', `${purged}, in ${manifest.purged.length} signed records`],
      ['complete', completenessText(verdict)],
      ['files', String(files)],
      ['manifest', `sha256:${verdict.manifestSha256}`],
    ];
    for (const [name, text] of rows) print(`  ${name.padEnd(9)}  ${printable(text)}`);
    for (const correction of verdict.corrections) print(correctionLine(correction));
  }
  for (const { index, sha256, reason } of verdict.completeness?.absent ?? []) {
    remark(`Receipt ${index} of the stream is here as its hash alone (${reason}): ${sha256}`);
  }
  for (const { detail } of verdict.completeness?.faults ?? []) remark(detail);
  if (untrusted > 0) remark(`The trust does not vouch for the keys of ${untrusted} receipts.`);
  if (unlogged > 0) {
    remark(
      `The anchors of ${unlogged} receipts show nothing: no log that the trust lists signed their roots.`,
    );
  }
  if (!trusted) {
    remark('A bundle can’t vouch for itself: compare the root with one that you got another way (--root).');
  }
  if (verdict.completeness?.complete === false) return EXIT.failed;
  if (verdict.corrections.some(({ valid }) => !valid)) return EXIT.failed;
  const isSound = untrusted === 0 && unlogged === 0 && witnessed?.satisfied !== false;
  return trusted && isSound ? EXIT.ok : EXIT.untrusted;
}

function bundleWitnesses({ witnessed, unwitnessed, anchored }: BundleVerdict): string {
  if (witnessed === null) return '';
  const all = `each anchored receipt: ${witnessedText(witnessed)}`;
  return unwitnessed === 0 ? all : `${unwitnessed} of ${anchored} anchored receipts are not. Of ${all}`;
}

function correctedText({ corrections, superseded }: BundleVerdict): string {
  const faulty = corrections.filter(({ valid }) => !valid).length;
  const others = faulty === 0 ? '' : `; ${faulty} of ${corrections.length} corrections are at fault`;
  return `${superseded} receipts are superseded, and prove what they proved${others}`;
}

function completenessText({ completeness, manifest }: BundleVerdict): string {
  if (completeness === null) return 'not shown: the bundle has no heads of the tenant’s stream';
  const { complete, first, last, since, at, absent, faults, uncounted } = completeness;
  if (!complete) return `no: ${faults.length} faults`;
  const count = last - first + 1;
  const gone = absent.length === 0 ? '' : `, ${absent.length} of them as hashes alone (${reasonsOf(absent)})`;
  const { to } = manifest.period;
  const more =
    uncounted > 0
      ? `; no head counts ${uncounted} more, nor what may be missing beside them`
      : secondsOf(at) + CLOCK_SKEW < secondsOf(to)
        ? `; no head counts what was issued from then until ${to}`
        : '';
  return `all ${count} receipts that the head of ${at} counts since ${first === 1 ? since : `number ${first}`}${gone}${more}`;
}

/** How many hashes are there alone for which reason. */
function reasonsOf(absent: readonly AbsentReceipt[]): string {
  const groups = Map.groupBy(absent, ({ reason }) => reason);
  return [...groups].map(([reason, { length }]) => `${length} ${reason}`).join(', ');
}

/** Writes the proof that the root of a bundle contradicts itself. */
async function saveFork({ bundles }: TrustForkFault): Promise<void> {
  const file = await saveTrustFork(bundles);
  if (file !== null) remark(`The proof is in ${file}. Check it anywhere: tally trust fork verify ${file}`);
}

function showRefused({ reason, message, path }: EvidenceFault, json: boolean): Exit {
  if (json) printJson({ intact: false, reason, message, path });
  else
    print(
      `${paint('red', '✗')} ${paint('bold', 'Refused')}  ${printable(message)} ${paint('dim', `(${reason})`)}`,
    );
  return EXIT.failed;
}
