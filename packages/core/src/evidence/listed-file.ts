import { toHex } from '../encoding/hex.ts';
import { type Sha256, sha256 } from '../hash.ts';
import { crc32 } from './crc32.ts';
import type { EvidenceFile } from './document.ts';
import { EvidenceFault, type EvidenceReason } from './fault.ts';
import type { ZipPlace } from './zip-layout.ts';
import type { ByteSource } from './zip-reader.ts';

/** A file of the manifest, and where the archive has it. */
export interface ListedFile {
  readonly file: EvidenceFile;
  readonly place: ZipPlace;
}

/** Largest file of a bundle that is read, in bytes: one file must fit in memory. */
const MAX_FILE = 64 * 1_048_576;

/** Makes hex SHA-256. @param hash that of the platform; in JavaScript when absent */
export function digester(hash: Sha256 = sha256): (bytes: Uint8Array) => string {
  return (bytes) => toHex(hash(bytes));
}

/** Reads a file of the archive and checks its size and CRC-32. @throws EvidenceFault file_crc; for a file that is too large with the reason `tooLarge` */
export async function readPlace(
  source: ByteSource,
  place: ZipPlace,
  tooLarge: EvidenceReason = 'file_size',
): Promise<Uint8Array> {
  const { path, start, size } = place;
  if (size > MAX_FILE)
    throw new EvidenceFault(tooLarge, `${path} is larger than any file in a bundle may be.`, path);
  const bytes = await source.read(start, start + size);
  if (crc32(bytes) === place.crc32) return bytes;
  throw new EvidenceFault('file_crc', `${path} does not match its checksum in the archive.`, path);
}

/** Reads a file of the manifest and checks its hash too. @throws EvidenceFault file_size, file_crc, file_changed */
export async function readListed(
  source: ByteSource,
  { file, place }: ListedFile,
  digest: (bytes: Uint8Array) => string,
): Promise<Uint8Array> {
  const bytes = await readPlace(source, place);
  if (digest(bytes) === file.sha256) return bytes;
  const message = `${file.path} was changed: its hash is not the manifest’s.`;
  throw new EvidenceFault('file_changed', message, file.path);
}
