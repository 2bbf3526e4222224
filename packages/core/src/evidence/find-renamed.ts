import type { EvidenceFile } from './document.ts';
import type { ZipPlace } from './zip-layout.ts';

/**
 * Finds a file of the manifest that is there under another name; null if there is none.
 * @param missing files of the manifest whose names are not there
 * @param added files whose names the manifest does not have
 * @param digestOf reads a file and returns its SHA-256 in hex
 */
export async function findRenamed(
  missing: readonly EvidenceFile[],
  added: readonly ZipPlace[],
  digestOf: (place: ZipPlace) => Promise<string>,
): Promise<{ readonly was: string; readonly now: string } | null> {
  for (const place of added) {
    const likely = missing.filter(({ size }) => size === place.size);
    if (likely.length === 0) continue;
    const found = await digestOf(place);
    const was = likely.find((file) => file.sha256 === found);
    if (was !== undefined) return { was: was.path, now: place.path };
  }
  return null;
}
