import { type AgentKey, signRequest, TallyError, toHex, type UnsignedRequest } from '@tallystick/core';
import type { WebHeaders } from './platform.ts';

/** Who calls. */
export interface Credentials {
  /** API key of a tier, a tenant or a partner, sent as `Authorization: Bearer`, never to `siteUrl`. */
  readonly apiKey?: string | undefined;
  /** The DID of the calling agent, sent as `X-Agent-DID`. */
  readonly agentDid?: string | undefined;
  /**
   * The calling agent with its key, in place of `agentDid`: each request is signed (RFC 9421), which proves the DID.
   * The addresses must then be exactly the service's public ones. Streamed bodies are sent without a signature.
   */
  readonly agent?: AgentKey | undefined;
  /**
   * Most USDC, as decimal text such as `0.001`, that one read of `/v1/compute` may take from the balance of the agent that
   * signs, once its free reads are used up. Nothing is taken when absent.
   */
  readonly acceptCharge?: string | undefined;
}

/** Sets the headers that say who calls. @throws invalid_field for a text that no header can carry */
export function identify(
  headers: WebHeaders,
  { apiKey, agent, agentDid = agent?.did, acceptCharge }: Credentials,
): void {
  const set = (name: string, value: string, field: keyof Credentials): void => {
    try {
      headers.set(name, value);
    } catch (cause) {
      const message = `\`${field}\` has characters that no header can carry.`;
      throw new TallyError('invalid_field', message, { field, cause });
    }
  };
  if (apiKey !== undefined) set('authorization', `Bearer ${apiKey}`, 'apiKey');
  if (agentDid !== undefined) set('x-agent-did', agentDid, 'agentDid');
  if (acceptCharge !== undefined) set('x-accept-charge', acceptCharge, 'acceptCharge');
}

/** Sets the headers of an agent's signature. They are good for one attempt. */
export async function prove(headers: WebHeaders, request: UnsignedRequest, agent: AgentKey): Promise<void> {
  const moment = { created: Math.floor(Date.now() / 1000), nonce: freshKey() };
  const proof = await signRequest(request, agent, moment);
  for (const [name, value] of Object.entries(proof)) headers.set(name, value);
}

/** A random key. `crypto.randomUUID` is missing on insecure origins, and any visible ASCII is allowed. */
export function freshKey(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}
