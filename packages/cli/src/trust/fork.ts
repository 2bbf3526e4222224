import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  canonicalize,
  copyJson,
  type ProvenTrustFork,
  TallyError,
  type TrustBundle,
  trustForkOf,
  verifyTrustFork,
} from '@tallystick/core';
import { tallyHome } from '@tallystick/sdk/home';
import { writeOut } from '../files.ts';
import { judgeForkFile } from '../fork-file.ts';
import { type Exit, paint, print, printJson } from '../output.ts';
import { printable } from '../printable.ts';

/** Checks the fork file at a path by itself, and prints what it proves, or why it proves nothing. */
export function verifyTrustForkFile(path: string, json: boolean): Promise<Exit> {
  return judgeForkFile(path, json, verifyTrustFork, printFork);
}

function printFork({ root, kind, bundles, detail }: ProvenTrustFork, json: boolean): void {
  if (json) return printJson({ proves_fork: true, root, kind, bundles, detail });
  print(
    `${paint('green', '✓')} ${paint('bold', 'Proves that the root contradicts itself')}  ${printable(detail)}`,
  );
  for (const { version, bundle_sha256 } of bundles) print(`  signed  version ${version}  ${bundle_sha256}`);
  print(`  root    ${root}`);
}

/**
 * Writes the proof that two bundles of one root contradict each other.
 * @param out the file; if absent, one under the tally home that is named after root and version
 * @returns the file; null where the two prove nothing
 */
export async function saveTrustFork(
  [first, second]: readonly [TrustBundle, TrustBundle],
  out?: string,
): Promise<string | null> {
  try {
    const file = await trustForkOf(first, second);
    const { root, bundles } = await verifyTrustFork(file);
    const folder = join(tallyHome(), 'trust-forks');
    if (out === undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = out ?? join(folder, `${root.slice(7, 23)}-${bundles[0]?.version}.json`);
    writeOut(path, `${canonicalize(copyJson(file))}\n`);
    return path;
  } catch (error) {
    if (error instanceof TallyError && error.code.startsWith('trust_')) return null;
    throw error;
  }
}
