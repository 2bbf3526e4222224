import {
  bundleHash,
  checkTrustBundle,
  follows,
  fromBase64url,
  type JsonValue,
  rootFingerprint,
  TallyError,
  type TrustBundle,
  vanished,
} from '@tallystick/core';
import { EXIT, type Exit, paint, print, printJson, remark } from '../output.ts';
import { printable } from '../printable.ts';
import { serviceAt } from '../service.ts';
import { assertPin, type SavedTrust, savedTrust } from '../trust-store.ts';
import { saveTrustFork } from './fork.ts';

export interface AuditOptions {
  readonly root?: string;
  /** End at the bundle that this machine keeps, instead of the first. */
  readonly toKept?: boolean;
  readonly forkOut?: string;
  /** Most versions before the newest to ask for. */
  readonly most?: number;
  readonly json?: boolean;
}

/** Most versions before the newest that a walk asks a service for: who has its root can number and sign as many as he likes. */
export const MOST_VERSIONS = 1_000;

/** What contradicts at a version. */
interface Fault {
  readonly code: 'fork' | 'rollback' | 'unlinked' | 'vanished' | 'invalid' | 'other_root';
  readonly version: number;
  readonly detail: string;
}

/** What `walkTrust` found in the bundles of a service. */
export interface Walked {
  /** The lowest version that was checked. */
  readonly oldest: number;
  /** Whether the service serves the same bundle as this machine keeps, under that version; null if the walk met no such version. */
  readonly same: boolean | null;
  /** Why the hashes don't lead to the end; null if they do. */
  readonly missing: string | null;
  readonly faults: readonly Fault[];
  /** File with the proof of a fork. */
  readonly fork: string | null;
}

interface Report extends Pick<Walked, 'oldest' | 'missing' | 'faults' | 'fork'> {
  readonly url: string;
  readonly root: string;
  readonly newest: { readonly version: number; readonly bundle_sha256: string };
  /** The bundle that this machine keeps, and whether the service's bundle of that version is the same. */
  readonly kept: { readonly version: number; readonly same: boolean | null } | null;
  /** Whether the hashes lead from the newest bundle to the last one that the audit was to look at. */
  readonly complete: boolean;
}

/** Walks the bundles of a service from the newest back, and prints what it found. */
export async function auditTrust(url: string, options: AuditOptions): Promise<Exit> {
  const report = await audit(url, options);
  if (options.json) printJson(report);
  else show(report);
  if (report.faults.length > 0) return EXIT.failed;
  return report.complete ? EXIT.ok : EXIT.untrusted;
}

async function audit(
  url: string,
  { root: given, toKept = false, ...options }: AuditOptions,
): Promise<Report> {
  const service = serviceAt(url);
  const kept = savedTrust(url);
  assertPin(url, kept, given);
  const { json } = await service.get('/.well-known/trust.json');
  const newest = await checkTrustBundle(json, { now: Date.now(), root: kept?.pin.root ?? given });
  const end = toKept && kept !== null ? kept.bundle.version : 1;
  const { same, ...found } = await walkTrust(service, newest.bundle, { ...options, kept, end });
  return {
    url,
    root: newest.pin.root,
    newest: { version: newest.pin.version, bundle_sha256: newest.pin.bundle_sha256 },
    kept: kept === null ? null : { version: kept.bundle.version, same },
    complete: found.missing === null && found.oldest <= end,
    ...found,
  };
}

interface WalkOptions extends Pick<AuditOptions, 'forkOut' | 'most'> {
  readonly kept: SavedTrust | null;
  /** The version to walk to. */
  readonly end: number;
}

/**
 * Walks from a checked bundle of a service back to the version `end`, to the first that the service does not keep, or as far as
 * `most` allows. Saves nothing but the proof of a fork, in `forkOut` or the tally home.
 */
export async function walkTrust(
  service: ReturnType<typeof serviceAt>,
  newest: TrustBundle,
  { kept, end, forkOut, most = MOST_VERSIONS }: WalkOptions,
): Promise<Walked> {
  const root = rootFingerprint(fromBase64url(newest.root.public_key, 32));
  const faults = keptFaults(kept, newest);
  let fork: string | null = null;
  const contradict = async (one: TrustBundle, other: TrustBundle, detail: string): Promise<void> => {
    fork ??= await saveTrustFork([one, other], forkOut);
    faults.push({ code: 'fork', version: Math.max(one.version, other.version), detail });
  };
  let at = newest;
  let same = await compare(kept, at, contradict);
  let missing: string | null = null;
  while (at.version > end) {
    if (newest.version - at.version >= most) {
      missing = `The walk ended at version ${at.version}, after the ${most} before the newest. Walk further: tally trust audit --most <versions>`;
      break;
    }
    const before = await bundleOf(service, at.version - 1, root);
    if ('missing' in before) {
      missing = before.missing;
      if (before.fault) faults.push({ code: before.fault, version: at.version - 1, detail: missing });
      break;
    }
    const { bundle } = before;
    const linked = follows(at, bundle);
    if (linked === false) {
      await contradict(
        bundle,
        at,
        `Version ${at.version} names another bundle before it than version ${bundle.version}.`,
      );
    }
    if (linked === null) {
      const stopped = bundle.previous_sha256 !== undefined;
      const detail = `Version ${at.version} names no bundle before it, ${stopped ? `although version ${bundle.version} does` : 'as earlier releases did not'}.`;
      missing ??= detail;
      if (stopped) faults.push({ code: 'unlinked', version: at.version, detail });
    }
    for (const fault of vanishedFaults(bundle, newest))
      if (!faults.some(({ detail }) => detail === fault.detail)) faults.push(fault);
    same = (await compare(kept, bundle, contradict)) ?? same;
    at = bundle;
  }
  return { oldest: at.version, same, missing, faults, fork };
}

/** What contradicts between the kept bundle and the newest, wherever a walk between them ends. */
export function keptFaults(kept: SavedTrust | null, newest: TrustBundle): Fault[] {
  if (kept === null) return [];
  const { bundle } = kept;
  if (bundle.version < newest.version) return vanishedFaults(bundle, newest);
  if (bundle.version === newest.version) return [];
  const detail = `This machine keeps version ${bundle.version}, which is newer.`;
  return [{ code: 'rollback', version: newest.version, detail }];
}

const vanishedFaults = (earlier: TrustBundle, newest: TrustBundle): Fault[] =>
  vanished(earlier, newest).map((detail) => ({ code: 'vanished', version: earlier.version, detail }));

type Contradict = (one: TrustBundle, other: TrustBundle, detail: string) => Promise<void>;

/** Compares a bundle with the kept one: of its version, or of the version before. Null if neither. */
async function compare(
  kept: SavedTrust | null,
  bundle: TrustBundle,
  contradict: Contradict,
): Promise<boolean | null> {
  if (kept === null) return null;
  if (bundle.version === kept.bundle.version) {
    const same = bundleHash(bundle) === kept.pin.bundle_sha256;
    if (!same)
      await contradict(
        kept.bundle,
        bundle,
        `This machine keeps another bundle of version ${bundle.version}.`,
      );
    return same;
  }
  if (bundle.version !== kept.bundle.version + 1 || follows(bundle, kept.bundle) !== false) return null;
  await contradict(
    kept.bundle,
    bundle,
    `Version ${bundle.version} names another bundle before it than the one that this machine keeps.`,
  );
  return false;
}

type Found =
  | { readonly bundle: TrustBundle }
  | { readonly missing: string; readonly fault?: 'invalid' | 'other_root' };

/** The bundle of a version, signed by the root; its expiry does not count. */
async function bundleOf(
  service: ReturnType<typeof serviceAt>,
  version: number,
  root: string,
): Promise<Found> {
  let document: JsonValue;
  try {
    document = (await service.get(`/.well-known/trust/${version}.json`)).json;
  } catch (error) {
    if (!(error instanceof TallyError) || !error.code.endsWith('not_found')) throw error;
    return { missing: `The service does not keep version ${version}.` };
  }
  try {
    const { bundle } = await checkTrustBundle(document, { now: 0, root });
    if (bundle.version === version) return { bundle };
    return {
      missing: `In place of version ${version} the service keeps version ${bundle.version}.`,
      fault: 'invalid',
    };
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    const fault = error.code === 'trust_root_mismatch' ? 'other_root' : 'invalid';
    return { missing: `Version ${version}: ${error.message}`, fault };
  }
}

function show({ url, root, newest, oldest, kept, complete, missing, faults, fork }: Report): void {
  const good = faults.length === 0;
  const mark = good ? (complete ? paint('green', '✓') : paint('yellow', '?')) : paint('red', '✗');
  const walked = `versions ${oldest} to ${newest.version} of ${printable(url)}`;
  const verdict = good
    ? `${complete ? 'One line of bundles' : 'Nothing contradicts, but the line is not complete'}: ${walked}`
    : `The bundles contradict each other: ${walked}`;
  print(`${mark} ${paint('bold', verdict)}`);
  print(`  root    ${root}`);
  print(`  newest  ${newest.bundle_sha256}`);
  if (kept !== null) {
    const word = kept.same === null ? 'not compared' : kept.same ? 'the same' : paint('red', 'another');
    print(`  kept    version ${kept.version}: ${word}`);
  }
  for (const { version, code, detail } of faults)
    print(`  ${paint('red', code.padEnd(10))} version ${version}: ${printable(detail)}`);
  if (missing !== null && good) remark(missing);
  if (fork !== null) remark(`The proof is in ${fork}. Check it anywhere: tally trust fork verify ${fork}`);
}
