import {
  checkTrustBundle,
  copyJson,
  isObject,
  type JsonValue,
  parseJson,
  TallyError,
  type Trust,
  type TrustBundle,
  type TrustPin,
  trustOf,
  utf8,
} from '@tallystick/core';
import { bundleIn } from './documents.ts';
import { byId } from './dom.ts';

const STORED_AS = 'tallystick-trust';

/** The one bundle that this browser remembers, and the pin that later ones must agree with. */
interface RememberedTrust {
  readonly pin: TrustPin;
  readonly bundle: JsonValue;
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
  /** Whether the root is remembered in this browser. */
  readonly remembered: boolean;
  readonly refusals: readonly RejectedBundle[];
}

/** Stands for a remembered bundle that can no longer be read. No bundle matches it, so the reader has to forget it. */
const DAMAGED: RememberedTrust = { pin: { root: 'damaged', version: 1, bundle_sha256: '' }, bundle: null };

/** Used if the browser stores nothing for this page. */
let unstored: string | null = null;

/**
 * The bundle to judge by at a time (Unix milliseconds). If there is a pin, the bundle that the site serves must agree with
 * it; without one, it is used as it is.
 */
export async function trustAt(now: number, served: SiteTrust | null = siteTrust()): Promise<TrustInUse> {
  const held = recall();
  const refusals: RejectedBundle[] = [];
  const tried = async (from: RejectedBundle['from'], bundle: JsonValue, pin: TrustPin | undefined) => {
    try {
      return await check(bundle, now, pin);
    } catch (error) {
      if (!(error instanceof TallyError)) throw error;
      refusals.push({ from, error });
      return null;
    }
  };
  const fromSite = served && (await tried('site', served.bundle, held?.pin));
  if (served && fromSite) {
    if (held && fromSite.pin.version > held.pin.version) store({ pin: fromSite.pin, bundle: served.bundle });
    return { ...fromSite, site: served.site, remembered: held !== null, refusals };
  }
  const usable = held && (await tried('remembered', held.bundle, held.pin));
  const used = usable ?? { bundle: null, issuers: trustOf([]), pin: null };
  return { ...used, site: null, remembered: held !== null, refusals };
}

/** Checks a bundle that may be judged by. @throws trust_* */
async function check(document: JsonValue, now: number, pin: TrustPin | undefined) {
  const checked = await checkTrustBundle(document, { now, pin });
  return { ...checked, issuers: trustOf(checked.bundle.issuers, [checked.bundle]) };
}

/**
 * Checks a bundle and remembers it with its root.
 * @param now Unix milliseconds
 * @throws json_*, trust_*; then what is remembered stays as it was
 */
export async function remember(bytes: Uint8Array, now: number): Promise<void> {
  const document = bundleIn(parseJson(bytes));
  const { pin } = await check(document, now, recall()?.pin);
  store({ pin, bundle: document });
}

/** Remembers the bundle in use. */
export function rememberInUse({ bundle, pin }: TrustInUse): void {
  if (bundle !== null && pin !== null) store({ pin, bundle: copyJson(bundle) });
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

function store(remembered: RememberedTrust): void {
  unstored = JSON.stringify(remembered);
  try {
    localStorage.setItem(STORED_AS, unstored);
  } catch {
    // Some browsers store nothing for a page from disk: then it is remembered until the page is closed.
  }
}

function recall(): RememberedTrust | null {
  let text = unstored;
  try {
    text = localStorage.getItem(STORED_AS) ?? text;
  } catch {
    // As in `store`.
  }
  return text === null ? null : (readRemembered(text) ?? DAMAGED);
}

function readRemembered(text: string): RememberedTrust | null {
  try {
    const { pin, bundle } = JSON.parse(text) as RememberedTrust;
    const whole = [pin.root, pin.bundle_sha256].every((part) => typeof part === 'string') && pin.version > 0;
    return whole ? { pin, bundle } : null;
  } catch {
    return null;
  }
}

function siteTrust(): SiteTrust | null {
  const embedded = parseJson(utf8(byId('site-trust').textContent ?? ''));
  if (!isObject(embedded) || typeof embedded['site'] !== 'string') return null;
  return { site: embedded['site'], bundle: embedded['bundle'] ?? null };
}
