import type { Ed25519Engine } from '../ed25519/profile.ts';
import { equalBytes } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import type { Sha256 } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonValue } from '../json/types.ts';
import { CLOCK_SKEW } from '../receipts/family.ts';
import type { StreamVerdict } from '../streams/verify-stream.ts';
import { secondsOf } from '../time.ts';
import { checkTrustBundle, type TrustBundle } from '../trust/bundle.ts';
import { type Trust, trustOf } from '../trust/issuer.ts';
import type { WitnessPolicy } from '../witness/policy.ts';
import {
  type DocumentTrust,
  type EvidenceFile,
  type EvidenceManifest,
  readManifest,
  readPurge,
} from './document.ts';
import { EvidenceFault } from './fault.ts';
import { findRenamed } from './find-renamed.ts';
import { judgingBundle } from './judging-bundle.ts';
import { linesOf, readObject } from './lines.ts';
import { digester, type ListedFile, readListed, readPlace } from './listed-file.ts';
import {
  type BundlePart,
  type JudgedPart,
  PartJudge,
  type PartProgress,
  type PartTerms,
} from './part-judge.ts';
import { EVIDENCE_PATHS } from './parts.ts';
import { type PartCounts, ReceiptsCheck } from './receipts-check.ts';
import { StreamCheck } from './stream-check.ts';
import type { ZipPlace } from './zip-layout.ts';
import { type ByteSource, readZip } from './zip-reader.ts';

export interface BundleOptions {
  /** Time to judge at, in Unix milliseconds. */
  readonly now: number;
  /** Fingerprints of roots that the verifier trusts: `sha256:<hex>`. Without one, nothing is trusted. */
  readonly roots?: readonly string[] | undefined;
  /**
   * Other trust bundles, which were checked. The newest one of the enclosed bundle's root is used where it is newer than that; one
   * that contradicts it refuses the evidence bundle.
   */
  readonly bundles?: readonly TrustBundle[] | undefined;
  /** Witnesses that must have cosigned the checkpoint of each anchor. */
  readonly witnessPolicy?: WitnessPolicy | undefined;
  readonly sha256?: Sha256 | undefined;
  readonly engine?: Ed25519Engine | undefined;
  /** Makes what judges so many parts in another way than one after the other, on several threads; null where that gains nothing. */
  readonly judges?: ((terms: SharedTerms, parts: number) => PartJudges | null) | undefined;
  /** Called with the progress, and awaited, so that a page can draw; if it throws, the verification ends. */
  readonly progress?: ((done: BundleProgress) => unknown) | undefined;
}

/** What judges of parts need besides the options that they were made with. Plain data. */
export interface SharedTerms {
  readonly period: EvidenceManifest['period'];
  /** The trust bundle that decides about keys. */
  readonly trust: TrustBundle;
}

/** What judges the parts of a bundle, in the order in which they are handed over. */
export interface PartJudges {
  /** How many parts may be handed over before the first of them is judged. */
  readonly atOnce: number;
  /** @throws EvidenceFault with the first reason to refuse the part */
  judge(part: BundlePart, progress: PartProgress): Promise<JudgedPart>;
}

export interface BundleProgress {
  /** Number of bytes of the bundle that were read so far. */
  readonly bytes: number;
  readonly of: number;
  /** Number of receipts verified so far. */
  readonly receipts: number;
}

/** Contents of a verified bundle. A bundle that is refused throws instead. */
export interface BundleVerdict extends PartCounts {
  /** What the heads of the tenant's stream say about the receipts; null where the bundle has none: then completeness is not shown. */
  readonly completeness: StreamVerdict | null;
  readonly manifest: EvidenceManifest;
  /** SHA-256 of the manifest's bytes, in hex, which the receipt of the export is about. */
  readonly manifestSha256: string;
  /** Fingerprint of the root, for the reader to compare: a bundle can't vouch for itself. */
  readonly root: string;
  /** Whether the root is one that the verifier trusts. */
  readonly trusted: boolean;
  readonly files: number;
  /** Number of receipts that left the room, over all purge records. */
  readonly purged: number;
}

/**
 * Verifies an evidence bundle: its archive, the manifest's signature, each file against it, and each receipt with its
 * anchor. Holds one file at a time.
 * @throws EvidenceFault with the first reason to refuse it
 */
export async function verifyBundle(source: ByteSource, options: BundleOptions): Promise<BundleVerdict> {
  const places = await readZip(source);
  const files = new FileReader(source, options);
  // It was the first file in the first bundles.
  const manifestPlace = [places.at(-1), places[0]].find((place) => place?.path === EVIDENCE_PATHS.manifest);
  const manifestBytes = await files.read(manifestPlace, EVIDENCE_PATHS.manifest);
  const unread = readObject(manifestBytes, EVIDENCE_PATHS.manifest, 'manifest_malformed');
  if (!equalBytes(manifestBytes, canonicalBytes(unread))) {
    throw new EvidenceFault(
      'manifest_malformed',
      'The manifest is not in its canonical form.',
      EVIDENCE_PATHS.manifest,
    );
  }
  const enclosed = await files.read(
    places.find(({ path }) => path === EVIDENCE_PATHS.trust),
    EVIDENCE_PATHS.trust,
  );
  const { bundle, root } = await readTrust(enclosed, unread, options.now);
  const judgedBy = await judgingBundle(bundle, options.bundles ?? []);
  const documentTrust: DocumentTrust = { trust: trustOfBundle(judgedBy), engine: options.engine };
  const manifest = await readManifest(unread, documentTrust);
  if (manifest.trust.root !== root || manifest.trust.version !== bundle.version) {
    throw new EvidenceFault(
      'trust_refused',
      'The manifest names a trust bundle other than the enclosed one.',
    );
  }
  const others = places.filter((place) => place !== manifestPlace);
  await checkFiles(files, others, manifest.files);
  const counts = await checkContents(files, others, {
    source,
    manifest,
    bundle: judgedBy,
    documentTrust,
    options,
  });
  return {
    ...counts,
    manifest,
    manifestSha256: files.digest(manifestBytes),
    root,
    trusted: options.roots?.includes(root) ?? false,
    files: places.length,
    purged: manifest.purged.reduce((sum, { count }) => sum + count, 0),
  };
}

/** The trust by which the receipts of a bundle are judged. */
export function trustOfBundle(bundle: TrustBundle): Trust {
  return trustOf(bundle.issuers, [bundle]);
}

/** Reads files of a bundle, and reports how far the verification is. */
class FileReader {
  readonly #source: ByteSource;
  readonly #options: BundleOptions;
  /** Hex SHA-256. */
  readonly digest: (bytes: Uint8Array) => string;
  #done = 0;

  constructor(source: ByteSource, options: BundleOptions) {
    this.#source = source;
    this.#options = options;
    this.digest = digester(options.sha256);
  }

  /** Reads a file and checks its size and CRC-32. @throws EvidenceFault manifest_missing, file_missing, file_size, file_crc */
  async read(place: ZipPlace | undefined, path: string): Promise<Uint8Array> {
    const isManifest = path === EVIDENCE_PATHS.manifest;
    if (place?.path !== path) {
      const where = isManifest ? 'does not end with' : 'lacks';
      throw new EvidenceFault(
        isManifest ? 'manifest_missing' : 'file_missing',
        `The bundle ${where} ${path}.`,
        path,
      );
    }
    return readPlace(this.#source, place, isManifest ? 'manifest_size' : undefined);
  }

  /** Reads a file of the manifest. @throws EvidenceFault file_size, file_crc, file_changed */
  async readListed(listed: ListedFile, receipts: number): Promise<Uint8Array> {
    const bytes = await readListed(this.#source, listed, this.digest);
    await this.report({ bytes: bytes.length, receipts });
    return bytes;
  }

  /** @param more bytes that were read since the last report @param receipts how many were verified until now */
  async report(more: { readonly bytes: number; readonly receipts: number }): Promise<void> {
    this.#done += more.bytes;
    const { receipts } = more;
    await this.#options.progress?.({ bytes: this.#done, of: this.#source.size, receipts });
  }
}

async function readTrust(
  bytes: Uint8Array,
  manifest: JsonValue,
  verifiedAt: number,
): Promise<{ bundle: TrustBundle; root: string }> {
  const issuedAt = (manifest as { issued_at?: unknown } | null)?.issued_at;
  try {
    // The trust bundle is checked at the time of the manifest: that it has expired since then is no fault.
    const now = typeof issuedAt === 'string' ? secondsOf(issuedAt) * 1000 : 0;
    if (now > verifiedAt + CLOCK_SKEW * 1000) throw new RangeError('The manifest is from the future.');
    const { bundle, pin } = await checkTrustBundle(parseJson(bytes), { now });
    return { bundle, root: pin.root };
  } catch (error) {
    if (error instanceof RangeError) {
      throw new EvidenceFault(
        'manifest_malformed',
        'issued_at must be a UTC timestamp that is not in the future.',
        EVIDENCE_PATHS.manifest,
      );
    }
    if (!(error instanceof TallyError)) throw error;
    throw new EvidenceFault('trust_refused', error.message, EVIDENCE_PATHS.trust);
  }
}

/** Checks that the archive holds exactly the files of the manifest, in its order. @throws EvidenceFault file_… */
async function checkFiles(
  files: FileReader,
  places: readonly ZipPlace[],
  listed: readonly EvidenceFile[],
): Promise<void> {
  const present = new Map(places.map((place) => [place.path, place]));
  const missing = listed.filter(({ path }) => !present.has(path));
  const known = new Set(listed.map(({ path }) => path));
  const added = places.filter(({ path }) => !known.has(path));
  const renamed = await findRenamed(missing, added, async (place) =>
    files.digest(await files.read(place, place.path)),
  );
  if (renamed !== null) {
    const { was, now } = renamed;
    throw new EvidenceFault('file_renamed', `${was} was renamed to ${now}.`, now);
  }
  for (const { path } of missing) throw new EvidenceFault('file_missing', `The bundle lacks ${path}.`, path);
  for (const { path } of added) {
    throw new EvidenceFault('file_added', `${path} is not in the manifest.`, path);
  }
  for (const [index, { path, size }] of listed.entries()) {
    const place = places[index];
    if (place?.path !== path) {
      throw new EvidenceFault('file_order', `${path} is not where the manifest places it.`, path);
    }
    if (place.size !== size) {
      const message = `${path} has ${place.size} bytes; the manifest says ${size}.`;
      throw new EvidenceFault('file_size', message, path);
    }
  }
}

interface Contents {
  readonly source: ByteSource;
  readonly manifest: EvidenceManifest;
  /** The trust bundle that decides about keys. */
  readonly bundle: TrustBundle;
  readonly documentTrust: DocumentTrust;
  readonly options: BundleOptions;
}

/** Checks every file by its hash, then the contents of the files. */
async function checkContents(
  files: FileReader,
  places: readonly ZipPlace[],
  { source, manifest, bundle, documentTrust, options }: Contents,
): Promise<PartCounts & Pick<BundleVerdict, 'completeness'>> {
  const { engine, witnessPolicy, sha256, judges } = options;
  const { period } = manifest;
  const terms = { ...options, period, trust: documentTrust.trust };
  const stream = new StreamCheck(manifest, documentTrust, sha256);
  const receipts = new ReceiptsCheck(manifest);
  const items = itemsOf(manifest.files, places);
  const parts = items.filter((item) => 'number' in item);
  const judging = judges?.({ period, trust: bundle }, parts.length) ?? oneJudge(source, terms);
  const judged: Promise<JudgedPart>[] = [];
  let next = 0;
  let records = 0;
  await files.report({ bytes: 0, receipts: 0 });
  for (const item of items) {
    if ('number' in item) {
      for (; next < parts.length && judged.length < judging.atOnce; next++) {
        let told = 0;
        const progress: PartProgress = (done) => {
          const bytes = done.bytes - told;
          told = done.bytes;
          return files.report({ bytes, receipts: receipts.receipts + done.receipts });
        };
        const one = judging.judge(parts[next] as BundlePart, progress);
        // It is awaited in its turn; an earlier part may be at fault before.
        one.catch(() => undefined);
        judged.push(one);
      }
      receipts.take(await (judged.shift() as Promise<JudgedPart>));
      continue;
    }
    const bytes = await files.readListed(item, receipts.receipts);
    const { path } = item.file;
    if (path === EVIDENCE_PATHS.purges)
      records = await checkPurges(bytes, { files, manifest, documentTrust });
    await stream.take(path, bytes);
  }
  if (records !== manifest.purged.length) throw purgeFault('The manifest does not list the same records.');
  const counts = await receipts.finish(witnessPolicy, engine);
  return { ...counts, completeness: stream.finish(receipts.given) };
}

/** Judges one part after the other. */
function oneJudge(source: ByteSource, terms: PartTerms): PartJudges {
  const one = new PartJudge(source, terms);
  return { atOnce: 1, judge: (part, progress) => one.judge(part, progress) };
}

/** The files of the manifest in its order, those of a part together: each file of receipts begins one. */
function itemsOf(files: readonly EvidenceFile[], places: readonly ZipPlace[]): (ListedFile | BundlePart)[] {
  const items: (ListedFile | (BundlePart & { readonly files: ListedFile[] }))[] = [];
  let number = 0;
  for (const [index, file] of files.entries()) {
    const listed = { file, place: places[index] as ZipPlace };
    const last = items.at(-1);
    const begins = file.path.startsWith('receipts/');
    if (!begins && !/^(?:anchors|metering)\//.test(file.path)) items.push(listed);
    else if (!begins && last !== undefined && 'number' in last) last.files.push(listed);
    else items.push({ number: begins ? ++number : number, files: [listed] });
  }
  return items;
}

const purgeFault = (message: string): EvidenceFault =>
  new EvidenceFault('purge_invalid', message, EVIDENCE_PATHS.purges);

/** Checks the records one by one against the manifest, and returns their number. */
async function checkPurges(
  bytes: Uint8Array,
  {
    files,
    manifest,
    documentTrust,
  }: { files: FileReader; manifest: EvidenceManifest; documentTrust: DocumentTrust },
): Promise<number> {
  let previous: string | null = null;
  let count = 0;
  for (const line of linesOf(bytes)) {
    const document = readObject(line, EVIDENCE_PATHS.purges, 'purge_invalid');
    const record = await readPurge(document, documentTrust);
    const listed = manifest.purged[count];
    count += 1;
    if (record.tenant !== manifest.tenant || record.sequence !== count || record.previous !== previous) {
      throw purgeFault(`Record ${count} does not follow from the one before.`);
    }
    const same = listed !== undefined && summaryOf(listed) === summaryOf(record);
    if (!same) throw purgeFault(`The manifest describes record ${count} differently.`);
    previous = files.digest(canonicalBytes(document));
  }
  return count;
}

/** The members of a record of purges that the manifest repeats, as a text to compare. */
function summaryOf(record: EvidenceManifest['purged'][number]): string {
  const { sequence, purged_at, count, first, last, ids_root } = record;
  const places = [first.receipt_id, first.at, last.receipt_id, last.at];
  return JSON.stringify([sequence, purged_at, count, ids_root, places]);
}
