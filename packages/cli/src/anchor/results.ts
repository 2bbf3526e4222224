import {
  type AnchoredResult,
  fromHex,
  isObject,
  type JsonValue,
  leafOf,
  parseAnchorRef,
  readAnchoredResult,
  TallyError,
  toBase64url,
  verifyInclusion,
} from '@tallystick/core';
import { type Reply, serviceAt } from '../service.ts';

/** State of a hash at a service: when its root will be posted, or where it was posted. */
type AnchorState =
  | { readonly kind: 'pending'; readonly ref: string; readonly etaSeconds: number }
  | { readonly kind: 'anchored'; readonly ref: string; readonly result: AnchoredResult };

/** A service's answer, and the state that it gives, which was checked. */
export interface AnchorAnswer extends Reply {
  readonly state: AnchorState;
}

/**
 * Submits a hash for anchoring, and sends nothing else.
 * @param hash 32 bytes
 * @throws the service's refusals; unavailable; anchor_invalid for an answer that is not valid
 */
export async function acceptHash(url: string, hash: Uint8Array, apiKey: string): Promise<AnchorAnswer> {
  const reply = await serviceAt(url, { apiKey }).post('/v1/anchor', { canonical_sha256: toBase64url(hash) });
  return read(url, reply, hash);
}

/** Fetches the state of a hash. Throws as `acceptHash`; anchor_not_found if nobody submitted it. */
export async function anchorOfHash(url: string, hash: Uint8Array): Promise<AnchorAnswer> {
  return read(url, await serviceAt(url).get(`/v1/anchor/by-hash/${toBase64url(hash)}`), hash);
}

/** Fetches the state of an anchor reference. Throws as `acceptHash`; anchor_ref_invalid, anchor_not_found. */
export async function anchorOfRef(url: string, ref: string): Promise<AnchorAnswer> {
  const { index } = parseAnchorRef(ref);
  const answer = read(url, await serviceAt(url).get(`/v1/anchor/${encodeURIComponent(ref)}`), null);
  if (parseAnchorRef(answer.state.ref).index === index) return answer;
  throw notHolding(url, `leaf ${index} was requested`);
}

/** @param hash null if only the service knows it */
function read(url: string, reply: Reply, hash: Uint8Array | null): AnchorAnswer {
  try {
    return { ...reply, state: stateIn(reply.json, hash) };
  } catch (error) {
    if (error instanceof TallyError) throw notHolding(url, error.message, error);
    throw error;
  }
}

function notHolding(url: string, why: string, cause?: unknown): TallyError {
  return new TallyError('anchor_invalid', `${url} answered with an anchor that does not hold: ${why}`, {
    cause,
  });
}

function stateIn(body: JsonValue, hash: Uint8Array | null): AnchorState {
  const { anchor_ref: ref, eta_seconds: etaSeconds } = isObject(body) ? body : {};
  if (typeof ref === 'string' && typeof etaSeconds === 'number' && parseAnchorRef(ref).kind === 'pending') {
    return { kind: 'pending', ref, etaSeconds };
  }
  const result = readAnchoredResult(body);
  if (hash !== null) requirePath(result, hash);
  return { kind: 'anchored', ref: result.anchor_ref, result };
}

/** Checks that the path leads from the hash to the root. `tally verify` checks who signed the root. */
function requirePath(
  { anchor_ref, tree_size: size, merkle_path, merkle_root }: AnchoredResult,
  hash: Uint8Array,
): void {
  const { index } = parseAnchorRef(anchor_ref);
  const [root, ...path] = [merkle_root, ...merkle_path].map((text) =>
    fromHex(text.slice('sha256:'.length), 32),
  );
  if (root === undefined || size === undefined)
    throw new TallyError('anchor_invalid', 'tree_size is missing.');
  if (verifyInclusion({ index, size, leafHash: leafOf(hash), path, root })) return;
  throw new TallyError(
    'anchor_invalid',
    `its path does not lead from the hash, as leaf ${index}, to its root.`,
  );
}
