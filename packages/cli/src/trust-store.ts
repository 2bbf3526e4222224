import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  canonicalize,
  checkTrustBundle,
  copyJson,
  isObject,
  type IssuerRecord,
  type JsonValue,
  parseJson,
  sha256Hex,
  type TrustBundle,
  type TrustPin,
  utf8,
} from '@tallystick/core';
import { readJson } from './input.ts';

/** A bundle as it was saved: where it came from, what is pinned of it, and the bundle itself. */
interface SavedTrust {
  readonly url: string;
  readonly pin: TrustPin;
  readonly bundle: TrustBundle;
}

function folder(): string {
  const home = process.env.TALLY_HOME ?? join(homedir(), '.config', 'tallystick');
  return join(home, 'trust');
}

function fileOf(origin: string): string {
  return join(folder(), `${sha256Hex(utf8(origin)).slice(0, 16)}.json`);
}

/** What is saved of the service at an origin, or null. */
export function savedTrust(origin: string): SavedTrust | null {
  const path = fileOf(origin);
  return existsSync(path) ? (parseJson(readFileSync(path)) as unknown as SavedTrust) : null;
}

/** Saves a checked bundle, so that the next one from there must carry on from it. */
export function saveTrust(saved: SavedTrust): string {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  const path = fileOf(saved.url);
  const temporary = `${path}.${process.pid}.new`;
  writeFileSync(temporary, `${canonicalize(copyJson(saved))}\n`);
  renameSync(temporary, path);
  return path;
}

/**
 * The issuers of the bundle in `path`, or of all saved ones. Each bundle is checked again, expiry included.
 * @param now Unix milliseconds
 * @throws the trust_* codes for the bundle in `path`
 */
export async function loadIssuers(
  path: string | undefined,
  now: number,
): Promise<{ issuers: IssuerRecord[]; refused: string[] }> {
  if (path !== undefined) {
    const { bundle } = await checkSaved(await readJson(path), now);
    return { issuers: [...bundle.issuers], refused: [] };
  }
  const issuers: IssuerRecord[] = [];
  const refused: string[] = [];
  if (!existsSync(folder())) return { issuers, refused };
  for (const name of readdirSync(folder()).filter((entry) => entry.endsWith('.json'))) {
    const saved = parseJson(readFileSync(join(folder(), name)));
    try {
      issuers.push(...(await checkSaved(saved, now)).bundle.issuers);
    } catch (error) {
      refused.push(`${isObject(saved) ? saved.url : name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { issuers, refused };
}

/** Takes a bundle as served, or as saved with its pin. */
function checkSaved(document: JsonValue, now: number) {
  const saved = isObject(document) && isObject(document.bundle) ? (document as unknown as SavedTrust) : null;
  return checkTrustBundle(saved?.bundle ?? document, { now, pin: saved?.pin });
}
