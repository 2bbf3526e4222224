import { concatBytes, utf8 } from '../encoding/bytes.ts';
import { groupsOf } from './lines.ts';

/** A file to store in an archive: `path` is ASCII, `size` is below 4 GiB, and `crc32` is that of its bytes. */
export interface ZipFile {
  readonly path: string;
  readonly size: number;
  readonly crc32: number;
}

/** Position of a file in an archive; all in bytes from the archive's start. */
export interface ZipPlace extends ZipFile {
  /** Offset of its local header. */
  readonly offset: number;
  /** Offset of its first byte. */
  readonly start: number;
}

/** Layout of an archive of stored files, known before any of their bytes is read, so that it can be streamed from any offset. */
export interface ZipLayout {
  readonly places: readonly ZipPlace[];
  /** Offset of the central directory. */
  readonly directoryAt: number;
  /** The central directory and the records after it that end the archive. */
  readonly directory: Uint8Array;
  readonly size: number;
}

/** Numbers of the ZIP format (APPNOTE 4.3); multi-byte values are little-endian. */
export const ZIP = {
  local: 0x04034b50,
  central: 0x02014b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
  end: 0x06054b50,
  localBytes: 30,
  centralBytes: 46,
  end64Bytes: 56,
  locator64Bytes: 20,
  endBytes: 22,
  /** Written in place of a value that is in the ZIP64 fields. */
  none32: 0xffff_ffff,
  none16: 0xffff,
  version: 20,
  version64: 45,
  /** 1 January 1980, the first day that ZIP can write: files are given no time of their own. */
  date: 0x0021,
} as const;

/** Number of headers that are put together at once: a call takes only so many arguments. */
const GROUP = 1024;

/** Computes the one layout of these files: stored, in order, without a gap, with ZIP64 only where it is needed. */
export function layoutZip(files: readonly ZipFile[]): ZipLayout {
  let at = 0;
  const places = files.map((file): ZipPlace => {
    const start = at + ZIP.localBytes + file.path.length;
    const place = { ...file, offset: at, start };
    at = start + file.size;
    return place;
  });
  const headers = groupsOf(places.map(centralHeader), GROUP);
  const central = concatBytes(...Array.from(headers, (group) => concatBytes(...group)));
  const directory = concatBytes(central, endOf(places.length, at, central.length));
  return { places, directoryAt: at, directory, size: at + directory.length };
}

/** The local header, which comes before the file's bytes (APPNOTE 4.3.7). */
export function localHeader({ path, size, crc32 }: ZipFile): Uint8Array {
  const fields = [
    u32(ZIP.local),
    u16(ZIP.version, 0, 0, 0, ZIP.date),
    u32(crc32, size, size),
    u16(path.length, 0),
  ];
  return concatBytes(...fields, utf8(path));
}

function centralHeader({ path, size, crc32, offset }: ZipPlace): Uint8Array {
  const far = offset >= ZIP.none32;
  const extra = far ? concatBytes(u16(1, 8), u64(offset)) : new Uint8Array();
  const version = far ? ZIP.version64 : ZIP.version;
  return concatBytes(
    u32(ZIP.central),
    u16(version, version, 0, 0, 0, ZIP.date),
    u32(crc32, size, size),
    u16(path.length, extra.length, 0, 0, 0),
    u32(0, far ? ZIP.none32 : offset),
    utf8(path),
    extra,
  );
}

function endOf(count: number, at: number, length: number): Uint8Array {
  const large = count >= ZIP.none16 || at >= ZIP.none32 || length >= ZIP.none32;
  const end64 = concatBytes(
    u32(ZIP.end64),
    u64(ZIP.end64Bytes - 12),
    u16(ZIP.version64, ZIP.version64),
    u32(0, 0),
    u64(count, count, length, at),
    u32(ZIP.locator64, 0),
    u64(at + length),
    u32(1),
  );
  const count16 = Math.min(count, ZIP.none16);
  return concatBytes(
    large ? end64 : new Uint8Array(),
    u32(ZIP.end),
    u16(0, 0, count16, count16),
    u32(Math.min(length, ZIP.none32), Math.min(at, ZIP.none32)),
    u16(0),
  );
}

function u16(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [value & 0xff, value >>> 8]));
}

function u32(...values: readonly number[]): Uint8Array {
  return concatBytes(...values.map((value) => u16(value & 0xffff, value >>> 16)));
}

function u64(...values: readonly number[]): Uint8Array {
  return concatBytes(...values.map((value) => u32(value % 2 ** 32, Math.floor(value / 2 ** 32))));
}
