import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  bundleHash,
  canonicalize,
  copyJson,
  isObject,
  type JsonObject,
  type JsonValue,
  sha256Hex,
  TallyError,
  type TrustBundle,
  type TrustPin,
  utf8,
} from '@tallystick/core';
import { tallyHome } from '@tallystick/sdk/home';
import { writeAtomically } from './files.ts';
import { parseNamed } from './input.ts';
import { describe } from './output.ts';

/** A saved bundle: the service's URL, its pin, and the bundle itself. */
export interface SavedTrust {
  readonly url: string;
  readonly pin: TrustPin;
  readonly bundle: TrustBundle;
}

/** A saved file that can't be used, and why. */
export interface Refused {
  readonly from: string;
  readonly reason: string;
}

const folder = (): string => join(tallyHome(), 'trust');

/** Path of the file with the bundle of a service; each URL has its own. */
export function trustFile(url: string): string {
  return join(folder(), `${sha256Hex(utf8(url)).slice(0, 16)}.json`);
}

/** Reads the saved bundle of the service at a URL, or null. @throws trust_invalid when the file is damaged */
export function savedTrust(url: string): SavedTrust | null {
  const path = trustFile(url);
  return existsSync(path) ? readSaved(path) : null;
}

/** @throws trust_root_mismatch when --root gives another root than the one that is pinned */
export function assertPin(url: string, saved: SavedTrust | null, root: string | undefined): void {
  const pinned = saved?.pin.root;
  if (root === undefined || pinned === undefined || pinned === root) return;
  throw new TallyError(
    'trust_root_mismatch',
    `${url}: the pinned root is ${pinned}, not ${root} as --root says. If the service really changed its root: tally trust fetch --replace ${url}`,
  );
}

/** All saved bundles, in the order of the URLs, and the files that are damaged. */
export function allSavedTrust(): { saved: SavedTrust[]; refused: Refused[] } {
  const saved: SavedTrust[] = [];
  const refused: Refused[] = [];
  const names = existsSync(folder()) ? readdirSync(folder()).filter((name) => name.endsWith('.json')) : [];
  for (const name of names) {
    const path = join(folder(), name);
    try {
      saved.push(readSaved(path));
    } catch (error) {
      refused.push({ from: path, reason: describe(error).message });
    }
  }
  return { saved: saved.sort((a, b) => (a.url < b.url ? -1 : 1)), refused };
}

/** Saves a checked bundle, so that the next one from there must not be older. Returns the path of the file. */
export function saveTrust(saved: SavedTrust): string {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  const path = trustFile(saved.url);
  writeAtomically(path, `${canonicalize(copyJson(saved))}\n`, 0o600);
  return path;
}

/** Removes the bundle and the pin of a service. Returns false where there was none. */
export function forgetTrust(url: string): boolean {
  const path = trustFile(url);
  const there = existsSync(path);
  rmSync(path, { force: true });
  return there;
}

/** Returns whether a document is a bundle with its pin, as saved here. */
function isSavedTrust(document: JsonValue): document is JsonObject & SavedTrust {
  if (!isObject(document) || !isObject(document.pin) || !isObject(document.bundle)) return false;
  const { root, version, bundle_sha256 } = document.pin;
  return (
    typeof document.url === 'string' &&
    typeof root === 'string' &&
    typeof version === 'number' &&
    typeof bundle_sha256 === 'string'
  );
}

function readSaved(path: string): SavedTrust {
  const document = parseNamed(readFileSync(path), path);
  if (isSavedTrust(document) && trustFile(document.url) === path) {
    const { bundle, pin } = document;
    if (bundleHash(bundle) === pin.bundle_sha256) return document;
  }
  throw new TallyError('trust_invalid', `${path} was damaged. Remove it, then fetch the bundle again.`);
}
