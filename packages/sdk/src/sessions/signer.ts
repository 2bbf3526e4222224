import { ownKeySigner, type SessionSigner, TallyError } from '@tallystick/core';
import { type SigningKey, signerOf } from '../issuers/signing-key.ts';
import type { SessionMethods } from '../methods/sessions.ts';

/** Who signs a session's receipts: the recorder's own key, offline, or the service of a client. One of the two. */
export interface SessionIssuer {
  /** The recorder's own key. */
  readonly key?: SigningKey | undefined;
  /** Client of the service that signs; it needs an API key. */
  readonly client?:
    | Pick<SessionMethods, 'openServiceSession' | 'addSessionReceipt' | 'getSession'>
    | undefined;
  /** DID of the agent that is recorded, as it says itself. Only with a key; a service knows its caller. */
  readonly agentDid?: string | undefined;
}

export function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** What signs for a session. */
interface Signing {
  readonly sign: SessionSigner;
  /** The recorder's own key, 32 bytes; null if a service signs. */
  readonly publicKey: Uint8Array | null;
  /** The receipts that a service has of a session, a line each; null for a key of one's own. */
  readonly signed: ((id: string) => Promise<string>) | null;
}

/** @throws invalid_field, invalid_secret_key */
export async function sessionSigner({ key, client, agentDid }: SessionIssuer): Promise<Signing> {
  if ((key === undefined) === (client === undefined)) {
    throw new TallyError('invalid_field', 'Give a key or a client, and not both.', { field: 'key' });
  }
  if (client !== undefined)
    return { sign: serviceSigner(client), publicKey: null, signed: (id) => client.getSession(id) };
  const signer = await signerOf(key as SigningKey);
  const sign = ownKeySigner({ signer, now: Date.now, random: randomBytes, agentDid });
  return { sign, publicKey: signer.publicKey, signed: null };
}

/** Has a service sign. It gets the hashes, and neither arguments nor results. */
function serviceSigner(client: NonNullable<SessionIssuer['client']>): SessionSigner {
  return async ({ call, request, response }) => {
    const sessionId = call.session.id;
    const isOpening = call.kind === 'session' && call.event === 'open';
    const { text } = isOpening
      ? await client.openServiceSession({
          sessionId,
          saltCommitment: call.salt_commitment,
          ...(call.continues !== undefined && { continues: call.continues }),
          ...(call.parent !== undefined && { parent: call.parent }),
        })
      : await client.addSessionReceipt(sessionId, { call, requestHash: request, responseHash: response });
    return text;
  };
}
