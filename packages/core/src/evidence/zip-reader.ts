import { equalBytes } from '../encoding/bytes.ts';
import { EvidenceFault, type EvidenceReason } from './fault.ts';
import { layoutZip, localHeader, ZIP, type ZipFile, type ZipPlace } from './zip-layout.ts';

/** Bytes that can be read at any offset: a file on disk, or one that was dropped on a page. */
export interface ByteSource {
  readonly size: number;
  /** The bytes of [from, to), which lie within the size. */
  read(from: number, to: number): Promise<Uint8Array>;
}

const MAX_FILES = 65_535 * 16;
const MAX_NAME = 200;
/** Largest directory that is read into memory, in bytes. */
const MAX_DIRECTORY = 64 * 1_048_576;
const NAME = /^(?!\/)(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * Reads an archive that `layoutZip` could have written, and no other: stored files without a gap, each named once.
 * What an archive declares is compared with its bytes before any of it is used; nothing is decompressed.
 * @throws EvidenceFault `zip_…`
 */
export async function readZip(source: ByteSource): Promise<readonly ZipPlace[]> {
  const end = await readEnd(source);
  const directory = await source.read(end.at, end.at + end.length);
  const entries = readDirectory(directory, end.count);
  checkNames(entries);
  checkPlaces(entries, end.at);
  for (const entry of entries) await checkLocal(source, entry);
  const layout = layoutZip(entries);
  const tail = await source.read(end.at, source.size);
  if (layout.directoryAt !== end.at || !equalBytes(layout.directory, tail)) {
    throw new EvidenceFault('zip_directory', 'The directory is not in the form that bundles use.');
  }
  return layout.places;
}

interface End {
  readonly count: number;
  readonly at: number;
  readonly length: number;
}

async function readEnd(source: ByteSource): Promise<End> {
  const refuse = (what: string): EvidenceFault => new EvidenceFault('zip_end', what);
  const tailAt = Math.max(0, source.size - ZIP.endBytes - ZIP.locator64Bytes - ZIP.end64Bytes);
  const view = viewOf(await source.read(tailAt, source.size));
  const at = view.byteLength - ZIP.endBytes;
  if (at < 0 || view.getUint32(at, true) !== ZIP.end) {
    throw refuse(
      'It does not end like a ZIP archive: it was cut off, something follows it, or it is not one.',
    );
  }
  if (view.getUint32(at + 4, true) !== 0 || view.getUint16(at + 20, true) !== 0) {
    throw refuse('The archive has several parts, or a comment; a bundle has neither.');
  }
  const locator = at - ZIP.locator64Bytes;
  const large = locator >= ZIP.end64Bytes && view.getUint32(locator, true) === ZIP.locator64;
  const record = locator - ZIP.end64Bytes;
  const end = large
    ? { count: u64(view, record + 24), length: u64(view, record + 40), at: u64(view, record + 48) }
    : {
        count: view.getUint16(at + 8, true),
        length: view.getUint32(at + 12, true),
        at: view.getUint32(at + 16, true),
      };
  if (large && view.getUint32(record, true) !== ZIP.end64) throw refuse('The ZIP64 end record is missing.');
  const endsAt = tailAt + (large ? record : at);
  if (end.count > MAX_FILES || end.length > MAX_DIRECTORY) {
    throw new EvidenceFault(
      'zip_count',
      `The archive declares ${end.count} files, more than any bundle has.`,
    );
  }
  if (end.at + end.length !== endsAt) {
    throw new EvidenceFault('zip_directory', 'The directory is not where the archive says that it is.');
  }
  return end;
}

function readDirectory(bytes: Uint8Array, count: number): ZipPlace[] {
  const view = viewOf(bytes);
  const entries: ZipPlace[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + ZIP.centralBytes > bytes.length || view.getUint32(at, true) !== ZIP.central) {
      throw new EvidenceFault('zip_directory', `Entry ${entries.length + 1} of the directory is malformed.`);
    }
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((by) => view.getUint16(at + by, true));
    const nameAt = at + ZIP.centralBytes;
    const extraAt = nameAt + (nameLength ?? 0);
    const next = extraAt + (extraLength ?? 0) + (commentLength ?? 0);
    if (next > bytes.length) {
      throw new EvidenceFault('zip_directory', `Entry ${entries.length + 1} of the directory is cut off.`);
    }
    const path = nameOf(bytes.subarray(nameAt, extraAt));
    entries.push(readEntry(view, { at, extraAt, extraLength: extraLength ?? 0, path }));
    at = next;
  }
  if (entries.length === count) return entries;
  throw new EvidenceFault(
    'zip_count',
    `The archive declares ${count} files, and its directory has ${entries.length}.`,
  );
}

function readEntry(
  view: DataView,
  place: {
    readonly at: number;
    readonly extraAt: number;
    readonly extraLength: number;
    readonly path: string;
  },
): ZipPlace {
  const { at, extraAt, extraLength, path } = place;
  if (view.getUint16(at + 8, true) !== 0 || view.getUint16(at + 10, true) !== 0) {
    const what = 'is compressed, encrypted or of unknown size; files in a bundle are stored uncompressed';
    throw fault('zip_compressed', path, what);
  }
  const [crc32, stored, size, offset32] = [16, 20, 24, 42].map((by) => view.getUint32(at + by, true));
  if (stored === undefined || size === undefined || crc32 === undefined || offset32 === undefined) {
    throw new RangeError('A header was checked to be whole.');
  }
  if (stored !== size) {
    throw fault('zip_size', path, `declares ${stored} bytes in the archive and ${size} outside it`);
  }
  const far = offset32 === ZIP.none32 && extraLength === 12 && view.getUint32(extraAt, true) === 0x0008_0001;
  const offset = far ? u64(view, extraAt + 4) : offset32;
  return { path, size, crc32, offset, start: offset + ZIP.localBytes + path.length };
}

function checkNames(entries: readonly ZipFile[]): void {
  const names = new Set<string>();
  for (const { path } of entries) {
    if (/^(?:[/\\]|[A-Za-z]:)/.test(path)) throw fault('zip_name_absolute', path, 'has an absolute name');
    if (path.split(/[/\\]/).includes('..'))
      throw fault('zip_name_traversal', path, 'leads out of its folder');
    if (path.length > MAX_NAME || !NAME.test(path)) {
      throw fault('zip_name', path, 'has a name that bundles do not use');
    }
    // Some file systems take two names that differ in case alone for one file.
    const name = path.toLowerCase();
    if (names.has(name)) throw fault('zip_duplicate', path, 'appears twice');
    names.add(name);
  }
}

function checkPlaces(entries: readonly ZipPlace[], directoryAt: number): void {
  let at = 0;
  for (const { path, size, offset, start } of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (start + size > directoryAt) {
      throw fault('zip_range', path, `declares ${size} bytes, which are not there`);
    }
    if (offset < at) throw fault('zip_overlap', path, 'overlaps another file');
    if (offset > at)
      throw fault('zip_gap', path, `has ${offset - at} bytes before it that belong to no file`);
    at = start + size;
  }
  if (at < directoryAt) {
    throw new EvidenceFault('zip_gap', `${directoryAt - at} bytes before the directory belong to no file.`);
  }
}

async function checkLocal(source: ByteSource, entry: ZipPlace): Promise<void> {
  const expected = localHeader(entry);
  const found = await source.read(entry.offset, entry.start);
  if (equalBytes(expected, found)) return;
  throw fault('zip_header', entry.path, 'is described differently in its header and in the directory');
}

/** The name for messages; a name that is not ASCII becomes one that no bundle has. */
function nameOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 1024)) + (bytes.length > 1024 ? '…' : '');
}

function fault(reason: EvidenceReason, path: string, what: string): EvidenceFault {
  return new EvidenceFault(reason, `${path.slice(0, MAX_NAME)} ${what}.`, path.slice(0, MAX_NAME));
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Reads an unsigned 64-bit number. One past 2^53 loses precision, but stays larger than any size. */
function u64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}
