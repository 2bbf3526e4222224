import {
  checkTrustBundle,
  isObject,
  type JsonValue,
  parseJson,
  readSavedBundle,
  TallyError,
  type Trust,
  type TrustBundle,
  type TrustPin,
  takenBack,
  trustOf,
  utf8,
} from '@tallystick/core';
import { byId } from './dom.ts';

const STORED_AS = 'tallystick-trust';

/** A bundle, and the pin that later ones must agree with. */
interface PinnedTrust {
  readonly pin: TrustPin;
  readonly bundle: TrustBundle;
}

/** The one bundle that this browser remembers. */
interface RememberedTrust extends PinnedTrust {
  /** What newer bundles took back of those remembered before them, a sentence each: named until the root is forgotten. */
  readonly takenBack: readonly string[];
}

/** The bundle of the site that served the page: in a page that is one file, it is put there when it is served. */
interface SiteTrust {
  readonly site: string;
  readonly bundle: JsonValue;
}

interface RejectedBundle {
  readonly from: 'site' | 'remembered';
  readonly error: TallyError;
}

/** The trust that receipts are judged by: one bundle or none, and the bundles that were refused. */
export interface TrustInUse {
  readonly bundle: TrustBundle | null;
  readonly issuers: Trust;
  readonly pin: TrustPin | null;
  /** Name of the site if its own bundle is in use; else null. */
  readonly site: string | null;
  /** What this browser remembers; null if it remembers no root. */
  readonly remembered: RememberedTrust | null;
  readonly refusals: readonly RejectedBundle[];
}

/** Used if the browser stores nothing for this page. */
let unstored: string | null = null;

/**
 * The bundle to judge by at a time (Unix milliseconds). If there is a pin, the bundle that the site serves must agree with
 * it; without one, it is used as it is.
 */
export async function trustAt(now: number, served: SiteTrust | null = siteTrust()): Promise<TrustInUse> {
  const before = stored();
  const held = recall();
  const refusals: RejectedBundle[] = [];
  const tried = async (from: RejectedBundle['from'], bundle: unknown, pin: TrustPin | undefined) => {
    try {
      return await check(bundle, now, pin);
    } catch (error) {
      if (!(error instanceof TallyError)) throw error;
      refusals.push({ from, error });
      return null;
    }
  };
  const fromSite = served && (await tried('site', served.bundle, held?.pin));
  if (stored() !== before) return trustAt(now, served);
  if (served && fromSite) {
    const remembered = held && fromSite.pin.version > held.pin.version ? store(fromSite) : held;
    return { ...fromSite, site: served.site, remembered, refusals };
  }
  const usable = held && (await tried('remembered', held.bundle, held.pin));
  const used = usable ?? { bundle: null, issuers: trustOf([]), pin: null };
  return { ...used, site: null, remembered: held, refusals };
}

/** Checks a bundle that may be judged by. @throws trust_* */
async function check(document: unknown, now: number, pin: TrustPin | undefined) {
  const checked = await checkTrustBundle(document, { now, pin });
  return { ...checked, issuers: trustOf(checked.bundle.issuers, [checked.bundle]) };
}

/**
 * Checks a bundle and remembers it with its root.
 * @param now Unix milliseconds
 * @throws json_*, trust_*; then what is remembered stays as it was
 */
export async function remember(bytes: Uint8Array, now: number): Promise<void> {
  const before = stored();
  const { bundle, pin } = readSavedBundle(parseJson(bytes));
  if (pin !== undefined) await check(bundle, now, pin);
  const checked = await check(bundle, now, recall()?.pin);
  // What was remembered or forgotten meanwhile decides: against an older pin, an older bundle could pass.
  if (stored() !== before) return remember(bytes, now);
  store(checked);
}

/** Forgets the remembered bundle, so that any bundle of any root may be used next. */
export function forget(): void {
  unstored = null;
  try {
    localStorage.removeItem(STORED_AS);
  } catch {
    // Nothing is stored for this page, so nothing has to be removed.
  }
}

/** Remembers a checked bundle, and what it takes back of the one that was remembered before. */
export function store({ pin, bundle }: PinnedTrust): RememberedTrust {
  const held = recall();
  const named = held === null ? [] : [...held.takenBack, ...takenBack(held, bundle)];
  const remembered = { pin, bundle, takenBack: named };
  unstored = JSON.stringify(remembered);
  try {
    localStorage.setItem(STORED_AS, unstored);
  } catch {
    // Some browsers store nothing for a page from disk: then it is remembered until the page is closed.
  }
  return remembered;
}

function stored(): string | null {
  try {
    return localStorage.getItem(STORED_AS) ?? unstored;
  } catch {
    // As in `store`.
    return unstored;
  }
}

function recall(): RememberedTrust | null {
  const text = stored();
  return text === null ? null : read(text);
}

/** What can't be read has a pin that no bundle agrees with, so the reader has to forget it. */
function read(text: string): RememberedTrust {
  const damaged = { pin: null, bundle: null, takenBack: [] } as unknown as RememberedTrust;
  try {
    const held = { ...damaged, ...JSON.parse(text) };
    return Array.isArray(held.takenBack) ? held : damaged;
  } catch {
    return damaged;
  }
}

function siteTrust(): SiteTrust | null {
  const embedded = parseJson(utf8(byId('site-trust').textContent ?? ''));
  if (!isObject(embedded) || typeof embedded['site'] !== 'string') return null;
  return { site: embedded['site'], bundle: embedded['bundle'] ?? null };
}
