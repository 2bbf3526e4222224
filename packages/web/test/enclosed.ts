import { closeSync, openSync, readSync } from 'node:fs';

const LOCAL_HEADER = 30;

/** Reads one file of a bundle on disk; the others are not read. @throws if there is no such file */
export function enclosedFile(bundle: string, path: string): Buffer {
  const file = openSync(bundle, 'r');
  try {
    for (let at = 0; ; ) {
      const header = read(file, at, LOCAL_HEADER);
      if (header.readUInt32LE(0) !== 0x04034b50) throw new Error(`The bundle has no ${path}.`);
      const [size, nameLength] = [header.readUInt32LE(22), header.readUInt16LE(26)];
      const name = read(file, at + LOCAL_HEADER, nameLength).toString('latin1');
      const start = at + LOCAL_HEADER + nameLength;
      if (name === path) return read(file, start, size);
      at = start + size;
    }
  } finally {
    closeSync(file);
  }
}

function read(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, from);
  return bytes;
}
