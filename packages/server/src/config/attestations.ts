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
  const files = folder === usual && !existsSync(usual) ? new Map<string, string>() : filesIn(read, folder);
  for (const { where, attestation } of claims) {
    const path = files.get(attestation.slice(-64));
    const problem =
      path === undefined
        ? `names evidence that is in no file of ${folder}. Put it there, or leave the setting out: without evidence nothing is claimed`
        : faultOf(path, attestation);
    if (problem !== null) read.faults.push(`${where} ${problem}.`);
  }
  return files;
}

function filesIn(read: EnvReader, folder: string): AttestationFiles {
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch (error) {
    read.fault('TALLY_ATTESTATION_DIR', `names ${folder}, which can't be read: ${(error as Error).message}`);
    return new Map();
  }
  if (names.length > MAX_FILES) {
    read.fault('TALLY_ATTESTATION_DIR', `names ${folder}, which holds more than ${MAX_FILES} files`);
    return new Map();
  }
  const paths = names.map((name) => join(folder, name));
  try {
    const readable = paths.filter((path) => {
      const facts = statSync(path);
      return facts.isFile() && facts.size <= MAX_BYTES;
    });
    return new Map(readable.map((path) => [sha256Hex(readFileSync(path)), path]));
  } catch (error) {
    read.fault('TALLY_ATTESTATION_DIR', `holds a file that can't be read: ${(error as Error).message}`);
    return new Map();
  }
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
