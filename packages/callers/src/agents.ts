import { hash } from 'node:crypto';
import {
  canonicalize,
  isSigned,
  readRequestSignature,
  SIGNATURE_WINDOW,
  TallyError,
  verifyRequestSignature,
} from '@tallystick/core';
import type { Registry } from '@tallystick/issuers';
import type { CounterStore, Incoming, ReceivedBody } from '@tallystick/kit';
import { nodeEngine, nodeSha256 } from '@tallystick/kit';
import { agentHeader } from './agent-header.ts';
import { agentKeys } from './agent-keys.ts';
import { type PublicOrigins, publicUrls } from './public-urls.ts';

/** The agent that a request names in `X-Agent-DID`. It is proved where the request is signed with a key of that DID. */
export type Agent =
  | { readonly did: string | null; readonly proved: false }
  | { readonly did: string; readonly proved: true };

/** The request headers of an agent's proof, for the reference. */
export const AGENT_HEADERS = {
  'X-Agent-DID': 'The DID of the calling agent.',
  'Signature-Input':
    'With `Signature` (RFC 9421, Ed25519) and, of a body, `Content-Digest`: proves X-Agent-DID. What it covers: spec/identity.md.',
} as const;

/** The codes that `agentOf` throws, for the endpoints that use it. */
export const AGENT_ERRORS = ['signature_invalid', 'invalid_field'] as const;

export interface AgentDependencies {
  readonly config: PublicOrigins;
  readonly store: CounterStore;
  readonly registry: Pick<Registry, 'document'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Reads the agent of a request, as `Callers.agentOf` does. */
export function agentReader({
  config,
  store,
  registry,
  clock,
}: AgentDependencies): (call: ReceivedBody) => Promise<Agent> {
  const urlsOf = publicUrls(config);
  return async ({ incoming, rawBody }) => {
    const did = agentHeader(incoming);
    if (!carriesSignature(incoming)) return { did, proved: false };
    const field = (name: string): string | undefined => incoming.header(name);
    const now = Math.floor(clock() / 1000);
    const request = { method: incoming.method, urls: urlsOf(incoming.url), header: field, body: rawBody };
    const signature = readRequestSignature(request, { now, sha256: nodeSha256 });
    const keys = await agentKeys(registry, signature, now);
    const verdicts = await Promise.all(keys.map((key) => verifyRequestSignature(nodeEngine, key, signature)));
    if (!verdicts.includes(true)) throw notOfKey(signature.keyId);
    await useNonce(store, signature);
    incoming.tell({ did: signature.did, didProved: true });
    return { did: signature.did, proved: true };
  };
}

/** Whether a request has a message signature, good or not. */
export function carriesSignature(incoming: Incoming): boolean {
  return isSigned((name) => incoming.header(name));
}

/** Remembered for longer than the signature is good, so that a clock of another process may be behind. */
async function useNonce(
  store: CounterStore,
  { keyId, nonce, created }: { readonly keyId: string; readonly nonce: string; readonly created: number },
): Promise<void> {
  const counter = `nonce:${hash('sha256', canonicalize([keyId, nonce]))}`;
  const { allowed } = await store.consume(counter, 1, created + 2 * SIGNATURE_WINDOW);
  if (!allowed) {
    throw new TallyError(
      'signature_invalid',
      'The message signature was already used. Sign each request separately, with a fresh nonce.',
    );
  }
}

function notOfKey(keyId: string): TallyError {
  return new TallyError(
    'signature_invalid',
    `The message signature was not made by ${keyId} over this request. spec/identity.md says what is signed.`,
  );
}
