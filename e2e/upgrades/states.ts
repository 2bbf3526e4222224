import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

const FOLDER = fileURLToPath(new URL('./data', import.meta.url));

/** A file with data of one schema version. */
type StateFile = 'tally.db' | 'postgres.sql' | 'sqlite-trust.json' | 'postgres-trust.json';

/** The schema versions that have data, oldest first. */
export function stateVersions(): number[] {
  return readdirSync(FOLDER)
    .map((name) => Number(name.slice(1)))
    .toSorted((a, b) => a - b);
}

export function readState(version: number, file: StateFile): Buffer {
  return brotliDecompressSync(readFileSync(path(version, file)));
}

export function writeState(version: number, file: StateFile, bytes: Buffer): void {
  writeFileSync(
    path(version, file),
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }),
  );
}

export function stateFolder(version: number): string {
  return `${FOLDER}/v${version}`;
}

function path(version: number, file: StateFile): string {
  return `${stateFolder(version)}/${file}.br`;
}
