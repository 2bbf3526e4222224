import { type Checkpoint, toHex } from '@tallystick/core';
import { printJson } from '../output.ts';
import { serviceAt } from '../service.ts';
import type { TrustSource } from '../trust-sources.ts';
import { openTrusted } from './trusted.ts';

/** Fetches a service's newest checkpoint, byte for byte, not yet checked. */
export async function fetchCheckpoint(url: string): Promise<string> {
  return new TextDecoder().decode(await serviceAt(url).download('/checkpoint', 'text/plain'));
}

/** Prints a service's newest checkpoint once its signature was verified. */
export async function printCheckpoint(
  url: string,
  sources: readonly TrustSource[],
  json: boolean,
): Promise<void> {
  const note = await fetchCheckpoint(url);
  showCheckpoint(note, await openTrusted(note, sources), json);
}

/** Prints a signed note whose signature was verified. */
export function showCheckpoint(note: string, { origin, size, root }: Checkpoint, json: boolean): void {
  if (json) printJson({ origin, size, root: toHex(root), note });
  else process.stdout.write(note);
}
