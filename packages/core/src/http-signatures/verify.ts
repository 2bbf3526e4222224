import { isDid } from '../did/did.ts';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import { utf8 } from '../encoding/bytes.ts';
import type { Sha256 } from '../hash.ts';
import { matchesContentDigest } from './content-digest.ts';
import { invalid, type RequestMessage, type RequestUrl, signatureBase } from './signature-base.ts';
import { type BareItem, type InnerList, type Item, parseDictionary } from './structured-fields.ts';

/** How far `created` may be from now, in seconds, either way. */
export const SIGNATURE_WINDOW = 300;

/** A request whose sender may have signed it. */
export interface ReceivedRequest {
  readonly method: string;
  /**
   * The URLs at which the service publishes what was asked for, from its configuration, never from the request's own
   * headers. A signature covers one of them.
   */
  readonly urls: readonly RequestUrl[];
  readonly header: RequestMessage['header'];
  /** Body byte for byte; empty if there is none. */
  readonly body: Uint8Array;
}

/** A signature that is well-formed, timely and covers what it must. It is not verified with a key yet. */
export interface RequestSignature {
  /** DID that the request is signed as. */
  readonly did: string;
  /** Name of the key: the DID, or the DID URL or key id of one of its keys. */
  readonly keyId: string;
  readonly nonce: string;
  /** Unix seconds. */
  readonly created: number;
  /** The signature's bytes; a good one has 64. */
  readonly signature: Uint8Array;
  /** The signature bases, one for each URL; the signature is over one of them. */
  readonly bases: readonly string[];
}

/** Returns whether the request carries a message signature, however bad. */
export function isSigned(header: RequestMessage['header']): boolean {
  return header('signature') !== undefined || header('signature-input') !== undefined;
}

/**
 * Checks everything about a request's signature that needs no key, step by step (spec/identity.md).
 * @param now Unix seconds
 * @throws signature_invalid
 */
export function readRequestSignature(
  request: ReceivedRequest,
  { now, sha256 }: { readonly now: number; readonly sha256?: Sha256 },
): RequestSignature {
  const { method, urls, header, body } = request;
  const { covered, signature } = findSignature(header);
  const created = checkTimes(covered, now);
  const nonce = checkNonce(covered);
  checkAlgorithm(covered);
  checkCovered(covered, { body, query: urls.some((url) => url.search !== '') });
  checkDigest(covered, header, body, sha256);
  const { did, keyId } = checkKeyId(covered, header);
  const bases = new Set(urls.map((url) => signatureBase(covered, { method, url, header })));
  return { did, keyId, nonce, created, signature, bases: [...bases] };
}

/** Returns whether the signature is of this key, under the profile of `verifyEd25519`. */
export async function verifyRequestSignature(
  engine: Ed25519Engine,
  publicKey: Uint8Array,
  { bases, signature }: RequestSignature,
): Promise<boolean> {
  for (const base of bases) if (await verifyEd25519(engine, publicKey, utf8(base), signature)) return true;
  return false;
}

interface SignatureParts {
  readonly covered: InnerList;
  readonly signature: Uint8Array;
}

/** Proxies may sign as well: among several, the agent's is the one that covers the agent's DID. */
function findSignature(header: RequestMessage['header']): SignatureParts {
  const inputs = parseDictionary(header('signature-input') ?? '');
  const signatures = parseDictionary(header('signature') ?? '');
  const ofAgent = [...inputs].filter(
    ([, input]) => inputs.size === 1 || ('items' in input && covers(input, 'x-agent-did')),
  );
  const [label, covered] = ofAgent[0] ?? [];
  if (label === undefined || covered === undefined || !('items' in covered)) {
    throw invalid('is missing: Signature-Input names none that covers "x-agent-did"');
  }
  if (ofAgent.length > 1) throw invalid('is one of several that cover "x-agent-did"');
  const signature = signatures.get(label);
  if (signature === undefined || !('value' in signature) || !(signature.value instanceof Uint8Array)) {
    throw invalid(`“${label}” is in Signature-Input and not in Signature`);
  }
  return { covered, signature: signature.value };
}

function checkTimes({ parameters }: InnerList, now: number): number {
  const created = parameters.get('created');
  const expires = parameters.get('expires');
  if (typeof created !== 'number') throw invalid('has no parameter “created”, in Unix seconds');
  if (Math.abs(created - now) > SIGNATURE_WINDOW) {
    throw invalid(`was created at ${created}, which is not within ${SIGNATURE_WINDOW} s of now, ${now}`);
  }
  if (expires !== undefined && (typeof expires !== 'number' || expires < now)) {
    throw invalid(`has expired; it is ${now} now`);
  }
  return created;
}

function checkNonce({ parameters }: InnerList): string {
  const nonce = parameters.get('nonce');
  if (typeof nonce === 'string' && nonce.length > 0 && nonce.length <= 255) return nonce;
  throw invalid('has no parameter “nonce” of 1 to 255 characters');
}

function checkAlgorithm({ parameters }: InnerList): void {
  const algorithm = parameters.get('alg');
  if (algorithm !== undefined && algorithm !== 'ed25519') throw invalid('does not use the algorithm ed25519');
}

/** Refuses a signature that leaves something out that could be changed on the way, the authority included. */
function checkCovered(covered: InnerList, { body, query }: { body: Uint8Array; query: boolean }): void {
  const target = covers(covered, '@target-uri') ? [] : ['@authority', '@path', ...(query ? ['@query'] : [])];
  const needed = ['@method', ...target, 'x-agent-did', ...(body.length > 0 ? ['content-digest'] : [])];
  const missing = needed.filter((name) => !covers(covered, name));
  if (missing.length > 0) {
    throw invalid(`does not cover ${missing.map((name) => `"${name}"`).join(', ')}`);
  }
}

function checkDigest(
  covered: InnerList,
  header: RequestMessage['header'],
  body: Uint8Array,
  sha256: Sha256 | undefined,
): void {
  if (!covers(covered, 'content-digest')) return;
  if (!matchesContentDigest(header('content-digest') ?? '', body, sha256)) {
    throw invalid('covers a Content-Digest that is not the sha-256 of the body');
  }
}

function checkKeyId(
  { parameters }: InnerList,
  header: RequestMessage['header'],
): { did: string; keyId: string } {
  const did = header('x-agent-did')?.trim() ?? '';
  const keyId = parameters.get('keyid');
  if (typeof keyId === 'string' && isDid(did) && isKeyOf(keyId, did)) return { did, keyId };
  throw invalid('has a “keyid” that is neither X-Agent-DID nor the id of one of its keys');
}

function isKeyOf(keyId: string, did: string): boolean {
  return keyId === did || keyId.startsWith(`${did}#`) || keyId.startsWith(`${did}:`);
}

function covers({ items }: InnerList, name: BareItem): boolean {
  return items.some((item: Item) => item.value === name && item.parameters.size === 0);
}
