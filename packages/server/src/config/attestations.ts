import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { verifyAttestation } from '@tallystick/attest';
import { sha256Hex, TallyError } from '@tallystick/core';
import type { EnvReader } from './reader.ts';

/** Most files of the folder, and their largest size in bytes. */
const MAX_FILES = 1_000;
const MAX_BYTES = 2 * 1024 * 1024;

/** An attestation that receipts will name, `<type>:sha256:<64 hex>`, and where it is configured. */
export interface AttestationClaim {
  readonly where: string;
  readonly attestation: string;
}

/** Files with evidence, by their SHA-256 in hex. */
export type AttestationFiles = ReadonlyMap<string, string>;

/** Finds the evidence of every attestation that is claimed, and judges it: without evidence nothing is claimed. */
export function readAttestations(
  read: EnvReader,
  dataDir: string,
  claims: readonly AttestationClaim[],
): AttestationFiles {
  const usual = join(dataDir, 'attestations');
  const folder = resolve(read.text('TALLY_ATTESTATION_DIR', usual, { example: '/etc/tally/attestations' }));
  const none = { files: new Map<string, string>(), unread: [] };
  const { files, unread } = folder === usual && !existsSync(usual) ? none : filesIn(read, folder);
  for (const { where, attestation } of claims) {
    const path = files.get(attestation.slice(-64));
    const problem = path === undefined ? absent(folder, unread) : faultOf(path, attestation);
    if (problem !== null) read.faults.push(`${where} ${problem}.`);
  }
  return files;
}

function absent(folder: string, unread: readonly string[]): string {
  const but = unread.length === 0 ? '' : `, of which ${unread.join(' and ')} can't be read`;
  return `names evidence that is in no file of ${folder}${but}. Put it there, or leave the setting out: without evidence nothing is claimed`;
}

/** The files of the folder that can be read, and the names of those that can't: one that no claim needs is no fault. */
interface Folder {
  readonly files: AttestationFiles;
  readonly unread: readonly string[];
}

function filesIn(read: EnvReader, folder: string): Folder {
  const files = new Map<string, string>();
  const unread: string[] = [];
  let names: string[] = [];
  try {
    names = readdirSync(folder).sort();
  } catch (error) {
    read.fault('TALLY_ATTESTATION_DIR', `names ${folder}, which can't be read: ${(error as Error).message}`);
  }
  if (names.length > MAX_FILES) {
    read.fault('TALLY_ATTESTATION_DIR', `names ${folder}, which holds more than ${MAX_FILES} files`);
    return { files, unread };
  }
  for (const name of names) {
    const path = join(folder, name);
    try {
      const facts = statSync(path);
      if (facts.isFile() && facts.size <= MAX_BYTES) files.set(sha256Hex(readFileSync(path)), path);
    } catch {
      unread.push(name);
    }
  }
  return { files, unread };
}

/** Why evidence does not bear what is claimed, as the end of a sentence; null if it does. */
function faultOf(path: string, claimed: string): string | null {
  try {
    const { attestation, genuine, checks } = verifyAttestation(readFileSync(path), { at: Date.now() });
    const broken = checks.find(({ ok }) => ok === false);
    if (!genuine)
      return `names ${path}, which is not genuine. ${broken?.name}: ${broken?.detail.replace(/\.$/, '')}`;
    return attestation === claimed ? null : `is not what ${path} is: ${attestation}`;
  } catch (error) {
    if (error instanceof TallyError) return `names ${path}. ${error.message.replace(/\.$/, '')}`;
    throw error;
  }
}
