import {
  entriesPath,
  leafOf,
  parseTlogProof,
  TallyError,
  TILE_WIDTH,
  toBase64url,
  toHex,
  verifyInclusion,
} from '@tallystick/core';
import { hashIn, hashOfFile } from '../anchor/hash.ts';
import { judgeForeign } from '../foreign.ts';
import { serviceAt } from '../service.ts';
import type { TrustSource } from '../trust-sources.ts';
import { fetchCheckpoint } from './checkpoint.ts';
import { openTrusted } from './trusted.ts';

/** Bytes of an entry in a bundle: two for its length, and the hash. */
const ENTRY_BYTES = 34;

/** A proof that was checked. */
export interface Proof {
  /** The C2SP tlog-proof, byte for byte. */
  readonly text: string;
  readonly origin: string;
  readonly index: number;
  readonly size: number;
}

/**
 * Fetches the proof that a hash is in a service's log, and checks it from the hash to the log's signature.
 * @param what a hash, the index of a leaf, or the file of a receipt
 * @throws anchor_not_found, tlog_proof_invalid, checkpoint_signature_invalid; the service's refusals
 */
export async function prove(what: string, url: string, sources: readonly TrustSource[]): Promise<Proof> {
  const hash = await hashFor(what, url, sources);
  const bytes = await serviceAt(url).download(`/v1/anchor/by-hash/${toBase64url(hash)}`, 'text/plain');
  const text = new TextDecoder().decode(bytes);
  if (text.startsWith('{')) {
    throw new TallyError('anchor_not_found', 'No checkpoint covers the hash yet. Try again in a second.');
  }
  return checkedProof(text, hash, sources);
}

/** A COSE Receipt that was checked. */
export interface CoseProof {
  readonly bytes: Uint8Array;
  /** `index 3 of 17` */
  readonly place: string;
  /** The 32 bytes that it is about, in hex. */
  readonly entry: string;
}

/**
 * Fetches the COSE Receipt of a hash in a service's log, and checks it under the key that saved trust has for it.
 * @param what a hash, the index of a leaf, or the file of a receipt
 * @throws anchor_not_found, cose_invalid; the service's refusals
 */
export async function proveByCose(
  what: string,
  url: string,
  sources: readonly TrustSource[],
): Promise<CoseProof> {
  const entry = await hashFor(what, url, sources);
  const bytes = await serviceAt(url).download(`/v1/anchor/${toBase64url(entry)}/receipt.cbor`, '*/*');
  const judged = await judgeForeign(bytes, { now: Date.now(), keys: [], entry, sources });
  const verdict = judged?.verdict;
  if (verdict?.family === 'cose_receipt' && verdict.valid && verdict.issuer.trusted)
    return { bytes, place: verdict.profile ?? '', entry: toHex(entry) };
  const failure = verdict?.checks.find(({ ok }) => ok === false)?.detail;
  throw new TallyError('cose_invalid', failure ?? 'Saved trust does not vouch for the key of this receipt.');
}

async function checkedProof(text: string, hash: Uint8Array, sources: readonly TrustSource[]): Promise<Proof> {
  const { index, path, checkpoint } = parseTlogProof(text);
  const { origin, size, root } = await openTrusted(checkpoint, sources);
  if (index < size && verifyInclusion({ index, size, leafHash: leafOf(hash), path, root })) {
    return { text, origin, index, size };
  }
  throw new TallyError(
    'tlog_proof_invalid',
    `The path does not lead from the hash, as leaf ${index} of ${size}, to the root of the checkpoint.`,
  );
}

async function hashFor(what: string, url: string, sources: readonly TrustSource[]): Promise<Uint8Array> {
  if (/^(?:0|[1-9]\d{0,15})$/.test(what)) return hashAt(Number(what), url, sources);
  return hashIn(what) ?? (await hashOfFile(what));
}

/** The hash of a leaf, from the log's public tiles. The proof then shows that it is the leaf's. */
async function hashAt(index: number, url: string, sources: readonly TrustSource[]): Promise<Uint8Array> {
  const { size } = await openTrusted(await fetchCheckpoint(url), sources);
  if (index >= size) {
    throw new TallyError(
      'anchor_not_found',
      `The newest checkpoint has ${size} leaves: there is no leaf ${index}.`,
    );
  }
  const tile = Math.floor(index / TILE_WIDTH);
  const width = Math.min(TILE_WIDTH, size - tile * TILE_WIDTH);
  const path = entriesPath(tile, width);
  const entries = await serviceAt(url).download(`/${path}`, '*/*');
  if (entries.length !== width * ENTRY_BYTES) {
    throw new TallyError('unavailable', `${url} answered ${path} with ${entries.length} bytes.`);
  }
  const start = (index % TILE_WIDTH) * ENTRY_BYTES;
  return entries.slice(start + 2, start + ENTRY_BYTES);
}
