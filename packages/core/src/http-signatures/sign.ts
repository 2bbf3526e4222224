import type { Signer } from '../ed25519/signer.ts';
import { toBase64 } from '../encoding/base64.ts';
import { utf8 } from '../encoding/bytes.ts';
import { contentDigest } from './content-digest.ts';
import { type RequestUrl, signatureBase } from './signature-base.ts';
import { type BareItem, type InnerList, serializeInnerList } from './structured-fields.ts';

export interface AgentKey {
  /** DID that signs: a did:key, or the did:svc of a registered issuer. */
  readonly did: string;
  /** The key of a did:key; a receipt key of a did:svc, under the id that it is registered with. */
  readonly signer: Signer;
}

export interface UnsignedRequest {
  readonly method: string;
  /** Absolute URL of the request; its origin is the service's public one. */
  readonly url: RequestUrl;
  /** Body as it is sent; null if there is none. */
  readonly body: Uint8Array | null;
}

/** Values that make a signature unique. */
export interface SignatureMoment {
  /** Unix seconds. */
  readonly created: number;
  /** 1 to 255 printable ASCII characters, never used before with this key. */
  readonly nonce: string;
}

/**
 * The headers that prove who sends a request (RFC 9421; spec/identity.md): `x-agent-did`, `content-digest` where there
 * is a body, `signature-input` and `signature`. They are good for one request within 300 seconds.
 */
export async function signRequest(
  { method, url, body }: UnsignedRequest,
  { did, signer }: AgentKey,
  { created, nonce }: SignatureMoment,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {
    'x-agent-did': did,
    ...(body === null ? {} : { 'content-digest': contentDigest(body) }),
  };
  const covered: InnerList = {
    items: ['@method', '@target-uri', ...Object.keys(headers)].map((value) => ({
      value,
      parameters: new Map(),
    })),
    parameters: new Map<string, BareItem>([
      ['created', created],
      ['nonce', nonce],
      ['keyid', signer.keyId.startsWith(`${did}:`) ? signer.keyId : did],
      ['alg', 'ed25519'],
    ]),
  };
  const base = signatureBase(covered, { method, url, header: (name) => headers[name] });
  const signature = await signer.sign(utf8(base));
  return {
    ...headers,
    'signature-input': `agent=${serializeInnerList(covered)}`,
    signature: `agent=:${toBase64(signature)}:`,
  };
}
