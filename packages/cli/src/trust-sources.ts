import {
  checkTrustBundle,
  readSavedBundle,
  revocationsTakenBack,
  TallyError,
  type TrustBundle,
} from '@tallystick/core';
import { readJson } from './input.ts';
import { describe, UsageError } from './output.ts';
import { serviceUrl } from './service.ts';
import { allSavedTrust, type Refused, type SavedTrust, savedTrust } from './trust-store.ts';

/** One checked bundle that a receipt is judged by. */
export interface TrustSource {
  /** The service's URL, or the file. */
  readonly from: string;
  readonly root: string;
  readonly bundle: TrustBundle;
}

/** The bundles to judge by, and the saved ones that can't be used. */
export interface TrustSources {
  readonly sources: readonly TrustSource[];
  readonly refused: readonly Refused[];
}

/** Checks a fingerprint: `sha256:` and 64 hex. @throws UsageError */
export function rootFingerprintOption(text: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(text)) return text;
  throw new UsageError(`“${text}” is not a root’s fingerprint: sha256: and 64 hex digits in lower case.`);
}

/**
 * The bundle in a file or saved under a URL, or else all saved ones; each is checked again, pin and expiry included.
 * @param chosen a file, or the URL of a service whose bundle is saved
 * @param options.now Unix milliseconds
 * @param options.root the only root to accept
 * @throws UsageError when the chosen bundle can't be used: its code says why
 */
export async function trustSources(
  chosen: string | undefined,
  options: { readonly now: number; readonly root: string | undefined },
): Promise<TrustSources> {
  if (chosen === undefined) return allSources(options);
  try {
    const saved = /^https?:\/\//.test(chosen) ? savedOf(chosen) : await bundleFile(chosen);
    return { sources: [await check(saved, options)], refused: [] };
  } catch (error) {
    const { code, message } = describe(error);
    if (!(error instanceof TallyError)) throw error;
    throw new UsageError(`${chosen}: ${message}${adviceFor(code)}`, { code, cause: error });
  }
}

function adviceFor(code: string): string {
  return code === 'trust_expired' ? ' Or verify as of an earlier time with --as-of.' : '';
}

async function allSources(options: {
  readonly now: number;
  readonly root: string | undefined;
}): Promise<TrustSources> {
  const { saved, refused } = allSavedTrust();
  const sources = new Map<string, TrustSource>();
  for (const one of saved) {
    try {
      const source = await check({ ...one, from: one.url }, options);
      const other = sources.get(source.root) ?? source;
      // One service saved under two URLs: its newer bundle is used.
      const [older, newer] = other.bundle.version < source.bundle.version ? [other, source] : [source, other];
      sources.set(source.root, newer);
      refused.push(...takenBack(older, newer));
    } catch (error) {
      const { code, message } = describe(error);
      const fetch =
        code === 'trust_expired' ? ` (tally trust fetch ${one.url}; or --as-of an earlier time)` : '';
      refused.push({ from: one.url, reason: `${message}${fetch}` });
    }
  }
  return { sources: [...sources.values()], refused };
}

/** What the newer bundle of one root takes back, which nothing may: it decides all the same, but not in silence. */
function takenBack(older: TrustSource, newer: TrustSource): Refused[] {
  return revocationsTakenBack(older.bundle, newer.bundle).map((detail) => ({
    from: older.from,
    reason: `The one of ${newer.from} is newer. ${detail}`,
  }));
}

type Unchecked = { readonly from: string; readonly bundle: unknown; readonly pin?: SavedTrust['pin'] };

function savedOf(url: string): Unchecked {
  const saved = savedTrust(serviceUrl(url));
  if (saved === null)
    throw new UsageError(`No bundle of ${url} is saved. Fetch it once: tally trust fetch ${url}`);
  return { ...saved, from: saved.url };
}

/** Reads a bundle as it is served, or as it was saved with its pin. @throws trust_invalid if the pin is damaged, or another bundle's */
async function bundleFile(path: string): Promise<Unchecked> {
  return { from: path, ...readSavedBundle(await readJson(path)) };
}

async function check(
  { from, bundle: document, pin }: Unchecked,
  { now, root }: { readonly now: number; readonly root: string | undefined },
): Promise<TrustSource> {
  const { bundle, pin: checked } = await checkTrustBundle(document, { now, pin, root });
  return { from, root: checked.root, bundle };
}
