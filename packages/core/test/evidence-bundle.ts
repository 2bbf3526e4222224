import { crc32 } from '../src/evidence/crc32.ts';
import { type ManifestFacts, signManifest, signPurge } from '../src/evidence/document.ts';
import { EVIDENCE_PATHS, hashesPath, partPaths } from '../src/evidence/parts.ts';
import { layoutZip, localHeader } from '../src/evidence/zip-layout.ts';
import type { ByteSource } from '../src/evidence/zip-reader.ts';
import {
  anchoredHash,
  type Correction,
  canonicalize,
  concatBytes,
  correctionOf,
  createSigner,
  emitReceipt,
  formatTimestamp,
  fromHex,
  type JsonObject,
  meteringDigest,
  mintEnvelope,
  mintMetering,
  nextStreamHead,
  parseJson,
  rootFingerprint,
  type Signer,
  sha256,
  sha256Hex,
  signStreamHead,
  signTrustBundle,
  streamStart,
  type TrustBundle,
  type TrustBundleFacts,
  toBase64url,
  toHex,
  utf8,
} from '../src/index.ts';

export const AT = Date.UTC(2027, 2, 1);
const SECONDS = AT / 1000;
const ISSUER = 'did:svc:example';
const TENANT = 't_0123456789abcdef';

/** One file of a bundle that a test makes. */
export interface Made {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly more?: JsonObject;
}

/** An issuer's keys and its signed trust bundle. */
interface Issuer {
  readonly root: Signer;
  readonly receipt: Signer;
  readonly bundle: Signer;
  readonly head: Signer;
  readonly trust: string;
}

const seeded = (name: string): Promise<Signer> => createSigner(sha256(utf8(`evidence test: ${name}`)));

/**
 * @param compromisedAt when a key was revoked, since somebody else may have it; null if all are in use
 * @param compromised purpose of that key
 */
export async function makeIssuer(
  name = 'own',
  compromisedAt: string | null = null,
  compromised: 'receipt' | 'bundle' = 'receipt',
): Promise<Issuer> {
  const signer = (purpose: string): Promise<Signer> => seeded(`${name} ${purpose}`);
  const [root, receipt] = [await signer('root'), await signer('receipt')];
  const [bundle, head] = [await signer('bundle'), await signer('head')];
  const keyOf = (signer: Signer, purpose: 'receipt' | 'bundle' | 'head') => ({
    key_id: signer.keyId,
    public_key: toBase64url(signer.publicKey),
    purpose,
    valid_from: '2027-01-01T00:00:00Z',
    valid_until: null,
    ...(compromisedAt !== null && purpose === compromised
      ? {
          state: 'revoked' as const,
          revoked: { at: compromisedAt, reason: 'compromised' as const },
        }
      : { state: 'active' as const, revoked: null }),
  });
  const trust = await signTrustBundle(
    {
      version: 3,
      issuedAt: AT,
      expiresAt: AT + 86_400_000,
      issuers: [
        {
          did: ISSUER,
          status: 'verified',
          keys: [keyOf(receipt, 'receipt'), keyOf(bundle, 'bundle'), keyOf(head, 'head')],
        },
      ],
      log: null,
      chain: null,
    },
    root,
  );
  return { root, receipt, bundle, head, trust };
}

/** Another trust bundle of the same root: what is given in place of what the issuer's own one says. */
export async function trustLike(
  { root, trust }: Issuer,
  change: Partial<TrustBundleFacts>,
): Promise<TrustBundle> {
  const own = JSON.parse(trust) as TrustBundle;
  const facts = { ...own, issuedAt: AT, expiresAt: AT + 86_400_000, ...change };
  return JSON.parse(await signTrustBundle(facts, root));
}

export async function receiptAt(signer: Signer, second: number, suffix: string): Promise<string> {
  return emitReceipt(
    'standard',
    {
      agentDid: 'did:svc:anonymous',
      agentProved: false,
      subject: { sha256: sha256(utf8(suffix)), contentType: 'text/plain', ok: true },
      verifyUri: 'https://example.com/verify',
      purpose: null,
      settlement: { rail: 'x402', chain_id: 1, asset: 'USDC', status: 'none', tx: null },
      seal: null,
      reputationTier: 'unregistered',
      sealedEvidenceRef: null,
      auditorVerifier: false,
    },
    {
      receiptId: `r_standard_${second}_${suffix}`,
      issuedAt: second * 1000,
      issuerDid: ISSUER,
      issuerVerified: true,
    },
    signer,
  );
}

export async function billAt(signer: Signer, second: number): Promise<string> {
  const hex = (digit: string): string => digit.repeat(64);
  return mintMetering(
    {
      machine_commitment: hex('1'),
      customer_commitment: hex('2'),
      salt_commitment: hex('3'),
      window_start: '2027-01-01T00:00:00Z',
      window_end: '2027-02-01T00:00:00Z',
      compiled_at: new Date(second * 1000).toISOString().replace('.000', ''),
      service_unit: 'pallet_moved',
      billed_unit_count: 2,
      rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: hex('4') },
    },
    [{ unit: 1, receipt_sha256: hex('a') }],
    { now: second * 1000 },
    signer,
  );
}

/** An envelope, which says that one receipt corrects another if it is given such a `call`. */
export function envelopeAt(
  signer: Signer,
  second: number,
  suffix: string,
  call?: Correction,
): Promise<string> {
  return mintEnvelope(
    {
      request: {
        hash: null,
        origin: null,
        purpose: call === undefined ? 'receipt' : 'correction',
        policy_hash: null,
      },
      operator: { entity: ISSUER, region: null, training_region: null },
      hardware: { class: null, attestation: null },
      response: { hash: null, sealed: null },
      settlement: { chain: null, asset: null, tx: null },
      ...(call === undefined ? {} : { call }),
    },
    {
      receiptId: `r_env_${second}_${suffix.padStart(12, '0')}`,
      issuedAt: second * 1000,
      issuerDid: ISSUER,
      issuerVerified: true,
    },
    signer,
  );
}

/** What an envelope says of two receipts, of which the second corrects the first. */
export function correcting(first: string, second: string): Correction {
  const [corrects, correction] = [first, second].map((text) => parseJson(utf8(text)) as JsonObject);
  return correctionOf({ corrects: corrects ?? {}, correction: correction ?? {} }, 'The count was wrong.');
}

const linesOf = (texts: readonly string[]): Uint8Array => utf8(texts.map((text) => `${text}\n`).join(''));

/** The files of a part that holds these receipts. */
export function partOf(number: number, receipts: readonly string[]): Made[] {
  const paths = partPaths(number);
  const documents = receipts.map((text) => parseJson(utf8(text)) as JsonObject);
  const place = { receipt_id: 'x', at: '2027-03-01T00:00:00Z' };
  const anchors = documents.map((document) =>
    canonicalize({
      receipt_id: (document.receipt_id ?? (document.receipt as JsonObject).id) as string,
      receipt_sha256: anchoredHash(document),
      anchor: null,
    }),
  );
  const digests = documents.map(meteringDigest).filter((line) => line !== null);
  return [
    {
      path: paths.receipts,
      bytes: linesOf(receipts),
      more: { receipts: receipts.length, first: place, last: place },
    },
    { path: paths.anchors, bytes: linesOf(anchors) },
    ...(digests.length === 0 ? [] : [{ path: paths.metering, bytes: linesOf(digests) }]),
  ];
}

export async function purgeRecord(
  { bundle }: Issuer,
  sequence: number,
  previous: string | null,
  tenant = TENANT,
): Promise<string> {
  const place = { receipt_id: 'r_nano_1', at: '2026-03-01T00:00:00Z' };
  return signPurge(
    {
      tenant,
      sequence,
      purged_at: '2027-02-01T00:00:00Z',
      count: 2,
      profiles: { nano: 2 },
      first: place,
      last: place,
      ids_root: 'ab'.repeat(32),
      previous,
    },
    { did: ISSUER, issuedAt: AT },
    bundle,
  );
}

interface MadeStream {
  readonly heads: readonly [count: number, at: number][];
  readonly first: number;
  readonly since: number;
  /** Number of the first heads that are signed, and left out of the files. */
  readonly leftOut?: number;
}

/** The files of a stream: heads over so many of the hashes, each signed at its second, and the hashes from a place on. */
export async function streamFiles(
  { head: signer }: Issuer,
  hashes: readonly string[],
  { heads, first, since, leftOut = 0 }: MadeStream,
): Promise<Made[]> {
  const stream = `tenant:${TENANT}`;
  const texts: string[] = [];
  for (const [count, at] of heads) {
    const head = hashes
      .slice(0, count)
      .reduce((before, hash) => nextStreamHead(before, fromHex(hash, 32)), streamStart(stream));
    const previous = texts.at(-1);
    const facts = {
      stream,
      count,
      head: toHex(head),
      since: formatTimestamp(since * 1000),
      previous_sha256: previous === undefined ? null : sha256Hex(utf8(previous)),
    };
    texts.push(await signStreamHead(facts, { did: ISSUER, at: at * 1000 }, signer));
  }
  const last = heads.at(-1)?.[0] ?? 0;
  const lines = hashes
    .slice(first - 1, last)
    .map((sha256, offset) => canonicalize({ index: first + offset, sha256 }));
  return [
    { path: EVIDENCE_PATHS.heads, bytes: linesOf(texts.slice(leftOut)) },
    ...(lines.length === 0 ? [] : [{ path: hashesPath(1), bytes: linesOf(lines) }]),
  ];
}

/** All files of a good bundle but its manifest. */
export async function goodFiles(issuer: Issuer): Promise<Made[]> {
  const receipts = await Promise.all(
    [1, 1, 2].map((offset, index) =>
      receiptAt(issuer.receipt, SECONDS - 90_000 + offset, `00000000000${index}`),
    ),
  );
  const bill = await billAt(issuer.receipt, SECONDS - 80_000);
  const first = await purgeRecord(issuer, 1, null);
  const purges = [first, await purgeRecord(issuer, 2, sha256Hex(utf8(first)))];
  return [
    { path: EVIDENCE_PATHS.readme, bytes: utf8('# Read me\n') },
    { path: EVIDENCE_PATHS.trust, bytes: utf8(issuer.trust) },
    { path: EVIDENCE_PATHS.purges, bytes: linesOf(purges) },
    ...partOf(1, receipts.slice(0, 2)),
    ...partOf(2, [...receipts.slice(2), bill]),
  ];
}

/** The manifest of files, changed by `change` before it is signed. */
export async function manifestOf(
  issuer: Issuer,
  files: readonly Made[],
  change: (facts: ManifestFacts) => ManifestFacts = (facts) => facts,
): Promise<Made> {
  const purges = new TextDecoder().decode(files.find(({ path }) => path === EVIDENCE_PATHS.purges)?.bytes);
  const listed = purges
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { sequence, purged_at, count, first, last, ids_root } = JSON.parse(line);
      return { sequence, purged_at, count, first, last, ids_root };
    });
  const facts: ManifestFacts = {
    tenant: TENANT,
    period: { from: '2027-02-01T00:00:00Z', to: '2027-03-01T00:00:00Z' },
    retention_days: 365,
    receipts: 4,
    anchored: 0,
    metering: 1,
    trust: { version: 3, root: rootFingerprint(issuer.root.publicKey) },
    log: { origin: 'log.example', tree_size: 0, anchored_size: 0 },
    purged: listed,
    files: files.map(({ path, bytes, more = {} }) => ({
      path,
      size: bytes.length,
      sha256: sha256Hex(bytes),
      ...more,
    })),
  };
  const text = await signManifest(change(facts), { did: ISSUER, issuedAt: AT }, issuer.bundle);
  return { path: EVIDENCE_PATHS.manifest, bytes: utf8(text) };
}

/** A bundle of February 2027 with one receipt, whose last head is of the 3rd. */
export async function bundleOfEarlyHeads(issuer: Issuer): Promise<Uint8Array> {
  const from = Date.UTC(2027, 1, 1) / 1000;
  const only = await envelopeAt(issuer.receipt, from + 86_400, 'a');
  const heads: [number, number][] = [[1, from + 2 * 86_400]];
  const hashes = [anchoredHash(parseJson(utf8(only)))];
  const stream = await streamFiles(issuer, hashes, { heads, first: 1, since: from });
  const files = [...(await goodFiles(issuer)).slice(0, 3), ...partOf(1, [only]), ...stream];
  const manifest = await manifestOf(issuer, files, (facts) => ({ ...facts, receipts: 1, metering: 0 }));
  return zipOf([manifest, ...files]);
}

/** The archive of files, as the service would write it. */
export function zipOf(files: readonly Made[]): Uint8Array {
  const layout = layoutZip(
    files.map(({ path, bytes }) => ({ path, size: bytes.length, crc32: crc32(bytes) })),
  );
  const parts = layout.places.flatMap((place, index) => [
    localHeader(place),
    files[index]?.bytes ?? new Uint8Array(),
  ]);
  return concatBytes(...parts, layout.directory);
}

export function sourceOf(bytes: Uint8Array): ByteSource {
  return { size: bytes.length, read: async (from, to) => bytes.subarray(from, to) };
}
