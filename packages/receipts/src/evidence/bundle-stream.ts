import type { RoomPlace } from '@tallystick/callers';
import { EVIDENCE_PATHS, type EvidenceFile, localHeader, secondsOf, toHex, utf8 } from '@tallystick/core';
import { nodeSha256 } from '@tallystick/kit';
import { type BegunExport, type ExportServices, filesOf, fixedBytes, type RoomExport } from './export.ts';
import { type RoomView, readPart } from './parts.ts';
import { type HashRange, hashLines } from './room-stream.ts';

/** Streams the bytes [from, to) of a bundle; no more than one part is in memory. */
export function streamBundle(
  services: Pick<ExportServices, 'store' | 'log'>,
  made: RoomExport,
  { from, to }: { readonly from: number; readonly to: number },
): ReadableStream<Uint8Array> {
  const bytes = bundleBytes(services, made, { from, to });
  return streamOf(bytes, async () => void (await bytes.return()));
}

/**
 * Streams the bundle of an export while the export is made.
 * @param left called with the rest when the caller leaves before the end
 */
export function streamExport(
  { bytes }: BegunExport,
  left: (rest: BegunExport['bytes']) => void,
): ReadableStream<Uint8Array> {
  return streamOf(bytes, async () => left(bytes));
}

function streamOf(
  bytes: AsyncIterator<Uint8Array, unknown, undefined>,
  cancel: () => Promise<void>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await bytes.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
}

async function* bundleBytes(
  services: Pick<ExportServices, 'store' | 'log'>,
  { row, contents, manifest, layout }: RoomExport,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  const { window, anchoredSize } = contents;
  const files = new FileBytes({ ...services, tenant: row.tenant, window, anchoredSize }, manifest.files, {
    fixed: (path) => fixedBytes(contents, path),
    hashes: contents.stream,
  });
  const within = (bytes: Uint8Array, at: number): Uint8Array =>
    bytes.subarray(Math.max(0, from - at), Math.max(0, to - at));
  for (const [index, place] of layout.places.entries()) {
    const end = place.start + place.size;
    if (end <= from) continue;
    if (place.offset >= to) return;
    const header = within(localHeader(place), place.offset);
    if (header.length > 0) yield header;
    if (place.start >= to) return;
    const isManifest = index === manifest.files.length;
    const bytes = within(isManifest ? utf8(contents.manifest) : await files.read(index), place.start);
    if (bytes.length > 0) yield bytes;
  }
  const rest = within(layout.directory, layout.directoryAt);
  if (rest.length > 0) yield rest;
}

/** Reads the files of a manifest again, and checks that they are the same as when it was signed. */
class FileBytes {
  readonly #view: RoomView;
  readonly #files: readonly EvidenceFile[];
  readonly #fixed: (path: string) => Uint8Array;
  readonly #hashes: HashRange | undefined;
  /** Files of the part that was read last, by path; a part's files are read one after the other. */
  #part: ReadonlyMap<string, Uint8Array> = new Map();

  constructor(
    view: RoomView,
    files: readonly EvidenceFile[],
    { fixed, hashes }: { fixed: (path: string) => Uint8Array; hashes: HashRange | undefined },
  ) {
    this.#view = view;
    this.#files = files;
    this.#fixed = fixed;
    this.#hashes = hashes;
  }

  /** @throws if the room has changed since the export: the download then breaks off, and the caller needs a new export */
  async read(index: number): Promise<Uint8Array> {
    const file = this.#files[index];
    if (file === undefined) throw new RangeError('The manifest has no such file.');
    const bytes = await this.#bytesOf(index, file.path);
    if (toHex(nodeSha256(bytes)) === file.sha256) return bytes;
    throw new Error(`${file.path} no longer matches the manifest.`);
  }

  async #bytesOf(index: number, path: string): Promise<Uint8Array> {
    if (/^(?:receipts|anchors|metering)\//.test(path)) return this.#ofPart(index, path);
    if (path === EVIDENCE_PATHS.heads || !path.startsWith('stream/') || this.#hashes === undefined) {
      return this.#fixed(path);
    }
    return hashLines(this.#view.store.streams, this.#hashes, numberOf(path));
  }

  async #ofPart(index: number, path: string): Promise<Uint8Array> {
    if (!this.#part.has(path)) {
      const part = await readPart(this.#view, this.#placeBefore(index));
      this.#part = new Map(part === null ? [] : filesOf(part, numberOf(path)));
    }
    return this.#part.get(path) ?? new Uint8Array();
  }

  /** The position in the room of the last receipt before a file's part; null for the first part. */
  #placeBefore(index: number): RoomPlace | null {
    const own = numberOf(this.#files[index]?.path ?? '');
    const before = this.#files.findLast(({ path, last }) => last !== undefined && numberOf(path) < own);
    if (before?.last === undefined) return null;
    return { id: before.last.receipt_id, issuedAt: secondsOf(before.last.at) };
  }
}

/** The number of the part that a file belongs to. */
function numberOf(path: string): number {
  return Number(/(\d+)\.ndjson$/.exec(path)?.[1] ?? 0);
}
