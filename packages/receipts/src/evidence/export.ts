import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { ExportRow, RoomWindow, TenantStore } from '@tallystick/callers';
import {
  canonicalize,
  copyJson,
  ENVELOPE_PROFILE,
  EVIDENCE_PATHS,
  type EvidenceFile,
  type EvidenceManifest,
  formatTimestamp,
  fromBase64url,
  hashesPath,
  layoutZip,
  localHeader,
  type PurgeRecord,
  partPaths,
  rootFingerprint,
  secondsOf,
  signManifest,
  TallyError,
  toHex,
  utf8,
  type ZipLayout,
} from '@tallystick/core';
import type { OwnIssuer, PublishedTrust, TrustService } from '@tallystick/issuers';
import { nodeSha256, ownDocument, UNHEARD } from '@tallystick/kit';
import { type Claims, tenantAccount } from '@tallystick/ledger';
import type { AnchorLog } from '@tallystick/log';
import { signProfile } from '../emit.ts';
import { issue } from '../issue.ts';
import type { StreamStore } from '../streams/stream-store.ts';
import { type TermsContext, tenantTerms } from '../terms.ts';
import { type RoomPart, type RoomView, readPart } from './parts.ts';
import { README } from './readme.ts';
import { type RequestedPeriod, ROOM_DAYS, roomWindow } from './room.ts';
import { type HashRange, hashLines, newestHead, type RoomStream, streamOf } from './room-stream.ts';
import { departed, placeOf, sweepRoom } from './sweep.ts';

/** Services that exports need. */
export interface ExportServices extends Pick<TermsContext, 'clock' | 'config' | 'unstored'> {
  readonly store: TermsContext['store'] & { readonly tenants: TenantStore; readonly streams: StreamStore };
  readonly log: AnchorLog;
  readonly issuer: OwnIssuer;
  readonly trust: TrustService;
  readonly claims: Pick<Claims, 'take'>;
  readonly config: TermsContext['config'] & {
    readonly receiptsUrl: string;
    readonly chain: { readonly id: number };
  };
}

/** A bundle that can be written any number of times, always the same bytes. */
export interface RoomExport {
  readonly row: ExportRow;
  readonly contents: ExportContents;
  readonly manifest: EvidenceManifest;
  readonly layout: ZipLayout;
}

/** Data that a bundle is written from, besides the receipts themselves. */
export interface ExportContents {
  /** JCS text. */
  readonly manifest: string;
  /** CRC-32 of each file in the manifest, in the same order, and of the manifest. */
  readonly checksums: readonly number[];
  /** Texts by path of the files that hold no receipts; null for a file that ships with the service. */
  readonly texts: Readonly<Record<string, string | null>>;
  readonly window: RoomWindow;
  readonly anchoredSize: number;
  /** Which hashes of the tenant's stream the bundle has; absent where it has none. */
  readonly stream?: HashRange;
}

/** Time for which the same bundle can be downloaded again, in seconds. */
const RESUMABLE = 86_400;
/** Milliseconds after the end of a second until everything that other processes issued in it has been stored. */
const SETTLE_MS = 250;

/** An export that is made while its bytes are read. */
export interface BegunExport {
  /** By which it can be found again once it is made. */
  readonly etag: string;
  /** The bytes of the bundle in their order, each read once; returns what writes them again. Holds one part at a time. */
  readonly bytes: AsyncGenerator<Uint8Array, RoomExport, undefined>;
}

/**
 * Begins an export of a tenant's room. The manifest is the last file: it is signed, and the receipt of the export issued, when the bytes of
 * all other files have been read.
 * @throws trust_unavailable, anchor_unavailable, unavailable
 */
export async function beginExport(
  services: ExportServices,
  tenant: string,
  requested: RequestedPeriod,
): Promise<BegunExport> {
  const published = trustNow(services);
  // Asked here, so that a log that is not available refuses the request instead of breaking off the answer.
  await services.log.status();
  const etag = randomBytes(16).toString('hex');
  return { etag, bytes: exportBytes(services, { tenant, requested, published, etag }) };
}

interface Begun {
  readonly tenant: string;
  readonly requested: RequestedPeriod;
  readonly published: PublishedTrust;
  readonly etag: string;
}

async function* exportBytes(
  services: ExportServices,
  { tenant, requested, published, etag }: Begun,
): BegunExport['bytes'] {
  const { store, issuer, log, clock } = services;
  const written = new WrittenFiles();
  // They need nothing of the room, for whose second the rest waits.
  for (const path of Object.keys(SAME_IN_ALL))
    yield* written.add(path, fixedBytes({ texts: SAME_IN_ALL }, path));
  const newest = await newestHead(services, tenant, requested);
  const asOf = await endOfSecond(services, tenant, requested);
  const window = roomWindow(requested, asOf);
  await sweepRoom(services, tenant, asOf);
  const { anchoredSize, treeSize, origin } = await log.status();
  const view: RoomView = { store, log, tenant, window, anchoredSize };
  const purges = await purgeLines(services, tenant);
  const stream = await streamOf(services, { newest, window });
  const own = await ownTexts(services, { tenant, published, purges, stream });
  for (const [path, text] of Object.entries(own)) yield* written.add(path, utf8(text));
  const room = yield* roomFiles(view, written, asOf + RESUMABLE);
  for (let number = 1, range = stream?.range; range !== undefined; number++) {
    const bytes = await hashLines(store.streams, range, number);
    if (bytes.length === 0) range = undefined;
    else yield* written.add(hashesPath(number), bytes);
  }
  await requireWhole(services, view, { asOf, leaving: room.leaving });
  const { version, root } = published.bundle;
  const manifest = await signManifest(
    {
      tenant,
      period: { from: formatTimestamp(window.from * 1000), to: formatTimestamp(window.to * 1000) },
      retention_days: ROOM_DAYS,
      ...room.counts,
      trust: { version, root: rootFingerprint(fromBase64url(root.public_key, 32)) },
      log: { origin, tree_size: treeSize, anchored_size: anchoredSize },
      purged: purges.map(summaryOf),
      files: written.files,
    },
    { did: issuer.did, issuedAt: clock() },
    issuer.signer('bundle'),
  );
  const contents = {
    manifest,
    checksums: [...written.checksums, crc32(utf8(manifest))],
    texts: { ...SAME_IN_ALL, ...own },
    window,
    anchoredSize,
    ...(stream !== null && { stream: stream.range }),
  };
  const layout = layoutOf(contents);
  // More may leave in a day than a call takes arguments.
  const expiresAt = room.leaving.reduce((first, at) => Math.min(first, at), Number.POSITIVE_INFINITY);
  const row = await receiptExport(services, { tenant, etag, contents, layout, expiresAt });
  yield* written.add(EVIDENCE_PATHS.manifest, utf8(manifest));
  yield layout.directory;
  return { row, contents, layout, manifest: read(manifest) };
}

/** Writes files one after the other as the archive has them, and notes what the manifest says of them. */
class WrittenFiles {
  readonly files: EvidenceFile[] = [];
  readonly checksums: number[] = [];

  *add(
    path: string,
    bytes: Uint8Array,
    more: Partial<EvidenceFile> = {},
  ): Generator<Uint8Array, void, undefined> {
    const size = bytes.length;
    const checksum = crc32(bytes);
    this.files.push({ path, size, sha256: toHex(nodeSha256(bytes)), ...more });
    this.checksums.push(checksum);
    yield localHeader({ path, size, crc32: checksum });
    if (size > 0) yield bytes;
  }
}

interface WrittenRoom {
  readonly counts: { readonly receipts: number; readonly anchored: number; readonly metering: number };
  /** Unix seconds at which those of the receipts leave the room that do so before a time. */
  readonly leaving: readonly number[];
}

/** Writes the files of the room's receipts. @param soon Unix seconds before which it is noted that receipts leave the room */
async function* roomFiles(
  view: RoomView,
  written: WrittenFiles,
  soon: number,
): AsyncGenerator<Uint8Array, WrittenRoom, undefined> {
  const counts = { receipts: 0, anchored: 0, metering: 0 };
  const leaving: number[] = [];
  let part = await readPart(view, null);
  for (let number = 1; part !== null; number++) {
    const { first, last, count } = part;
    const [receipts, ...others] = filesOf(part, number);
    if (receipts !== undefined)
      yield* written.add(...receipts, { receipts: count, first: placeOf(first), last: placeOf(last) });
    for (const [path, bytes] of others) yield* written.add(path, bytes);
    counts.receipts += count;
    counts.anchored += part.anchored;
    counts.metering += part.metering;
    leaving.push(...part.leaving.filter((at) => at < soon));
    part = await readPart(view, last);
  }
  return { counts, leaving };
}

/**
 * A caller may read slowly, and receipts that leave the room meanwhile may be gone before their part is read.
 * @throws where that is so, or can't be known any more: the caller needs a new export
 */
async function requireWhole(
  { store, clock }: Pick<ExportServices, 'store' | 'clock'>,
  { tenant, window }: RoomView,
  { asOf, leaving }: { readonly asOf: number; readonly leaving: readonly number[] },
): Promise<void> {
  const now = Math.floor(clock() / 1000);
  if (now >= asOf + RESUMABLE) throw new Error('The export took longer than a day.');
  let left = 0;
  for await (const { issuedAt } of departed(store, tenant, { since: asOf, asOf: now }))
    if (issuedAt >= window.from && issuedAt < window.to) left += 1;
  if (left > leaving.filter((at) => at <= now).length)
    throw new Error('Receipts left the room before they were read.');
}

/** The second (Unix) that ends the period at the latest. For a period that reaches up to now, it waits until the period's receipts are stored. */
async function endOfSecond(
  { clock, unstored }: Pick<ExportServices, 'clock' | 'unstored'>,
  tenant: string,
  { to }: RequestedPeriod,
): Promise<number> {
  const now = clock();
  const second = Math.floor(now / 1000);
  if (to !== null && to < second) return second;
  const next = second + 1;
  await setTimeout(next * 1000 - now + SETTLE_MS);
  await unstored.end(tenant);
  // A clock that was set back meanwhile would have the export's own receipt in the period.
  return Math.min(next, Math.floor(clock() / 1000));
}

/** Finds an earlier export, to write it again; null if there is none any more, or it is not made yet. */
export async function findExport(
  { store, clock }: Pick<ExportServices, 'store' | 'clock'>,
  tenant: string,
  etag: string,
): Promise<RoomExport | null> {
  const found = await store.tenants.findExport(tenant, etag, Math.floor(clock() / 1000));
  if (found === null) return null;
  const { contents: text, ...row } = found;
  const contents = JSON.parse(text) as ExportContents;
  const manifest = read(contents.manifest);
  const sameFiles = manifest.files.every(({ path, sha256 }) => {
    const fixed = contents.texts[path];
    return fixed !== null || toHex(nodeSha256(shipped(path))) === sha256;
  });
  // A newer release has other pages: then the bundle would be another one.
  return sameFiles ? { row, contents, manifest, layout: layoutOf(contents) } : null;
}

function read(manifest: string): EvidenceManifest {
  return ownDocument<EvidenceManifest>(manifest);
}

function layoutOf({ manifest, checksums }: ExportContents): ZipLayout {
  const own = { path: EVIDENCE_PATHS.manifest, size: Buffer.byteLength(manifest) };
  return layoutZip(
    [...read(manifest).files, own].map(({ path, size }, index) => ({
      path,
      size,
      crc32: checksums[index] ?? 0,
    })),
  );
}

function trustNow({ trust, clock }: ExportServices): PublishedTrust {
  const published = trust.bundle();
  if (published !== null && secondsOf(published.bundle.expires_at) * 1000 > clock()) return published;
  throw new TallyError(
    'trust_unavailable',
    'An evidence bundle must contain the trust bundle of its time, and none is valid at the moment.',
  );
}

async function purgeLines({ store }: ExportServices, tenant: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { body } of store.tenants.listPurges(tenant)) found.push(body);
  return found;
}

function summaryOf(record: string) {
  const { sequence, purged_at, count, first, last, ids_root } = ownDocument<PurgeRecord>(record);
  return { sequence, purged_at, count, first, last, ids_root };
}

/** The files that are the same in all bundles of a release, in the order of the archive; null for one that ships with the service. */
const SAME_IN_ALL: ExportContents['texts'] = {
  [EVIDENCE_PATHS.readme]: README,
  [EVIDENCE_PATHS.page]: null,
  [EVIDENCE_PATHS.verifier]: null,
};

/** The other files that hold no receipts, in the order of the archive. */
async function ownTexts(
  { store, issuer, log }: ExportServices,
  of: {
    readonly tenant: string;
    readonly published: PublishedTrust;
    readonly purges: readonly string[];
    readonly stream: RoomStream | null;
  },
): Promise<Record<string, string>> {
  const exports: string[] = [];
  for await (const row of store.tenants.listExports(of.tenant))
    exports.push(canonicalize(exportListing(row)));
  const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');
  return {
    [EVIDENCE_PATHS.trust]: of.published.text,
    [EVIDENCE_PATHS.issuer]: canonicalize(copyJson(issuer.keyring.document)),
    [EVIDENCE_PATHS.checkpoint]: (await log.checkpoint()) ?? '',
    [EVIDENCE_PATHS.purges]: lines(of.purges),
    [EVIDENCE_PATHS.exports]: lines(exports),
    ...(of.stream !== null && { [EVIDENCE_PATHS.heads]: lines(of.stream.heads) }),
  };
}

/** An export as lists of exports show it. */
export function exportListing({
  receiptId,
  createdAt,
  manifestSha256,
  from,
  to,
  receipts,
  bytes,
}: ExportRow) {
  return {
    receipt_id: receiptId,
    exported_at: formatTimestamp(createdAt * 1000),
    manifest_sha256: manifestSha256,
    period: { from: formatTimestamp(from * 1000), to: formatTimestamp(to * 1000) },
    receipts,
    bytes,
  };
}

/** The bytes of a file that holds no receipts. */
export function fixedBytes({ texts }: Pick<ExportContents, 'texts'>, path: string): Uint8Array {
  const text = texts[path];
  return typeof text === 'string' ? utf8(text) : shipped(path);
}

const pages = new Map<string, Uint8Array>();

/** The bytes of a built page. Read at the first export. */
function shipped(path: string): Uint8Array {
  let page = pages.get(path);
  if (page === undefined) {
    page = readFileSync(new URL(path, import.meta.resolve('@tallystick/web/verify.html')));
    pages.set(path, page);
  }
  return page;
}

/** The files of a part in the order of the archive. */
export function filesOf(part: RoomPart, number: number): (readonly [path: string, bytes: Uint8Array])[] {
  const paths = partPaths(number);
  const metering = part.meteringLines.length === 0 ? [] : [[paths.metering, part.meteringLines] as const];
  return [[paths.receipts, part.receiptLines], [paths.anchors, part.anchorLines], ...metering];
}

/** Issues a receipt for an export. It belongs to the same room, so the next export contains it. */
async function receiptExport(
  services: ExportServices,
  made: {
    readonly tenant: string;
    readonly etag: string;
    readonly contents: ExportContents;
    readonly layout: ZipLayout;
    /** Unix seconds at which the first of the receipts leaves the room. */
    readonly expiresAt: number;
  },
): Promise<ExportRow> {
  const { config, store, clock } = services;
  const { tenant, etag, contents, layout, expiresAt } = made;
  const manifestSha256 = toHex(nodeSha256(utf8(contents.manifest)));
  const requested = {
    payload_sha256: manifestSha256,
    purpose: 'evidence export',
    content_type: 'application/json',
  };
  const { id: receiptId } = await issue(services, UNHEARD, {
    claim: undefined,
    terms: tenantTerms(services, tenant),
    owner: { owner: tenantAccount(tenant), key: null },
    sign: () =>
      signProfile(services, requested, {
        profile: ENVELOPE_PROFILE,
        agent: { did: null, proved: false },
        verifyUri: `${config.receiptsUrl}/verify`,
        chainId: config.chain.id,
        settlement: null,
      }),
  });
  const createdAt = Math.floor(clock() / 1000);
  const row: ExportRow = {
    tenant,
    etag,
    createdAt,
    receiptId,
    manifestSha256,
    from: contents.window.from,
    to: contents.window.to,
    receipts: read(contents.manifest).receipts,
    bytes: layout.size,
    resumableUntil: Math.min(createdAt + RESUMABLE, expiresAt),
  };
  await store.tenants.putExport(row, JSON.stringify(contents));
  return row;
}
