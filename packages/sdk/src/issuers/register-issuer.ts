import { didSvc, type IssuerDocument, isObject, type SignedStatement, signStatement } from '@tallystick/core';
import { ServiceError } from '../http/service-error.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import { checkedRecord } from './issuer.ts';
import { type SigningKey, signerOf } from './signing-key.ts';

export interface RegisterIssuerParams {
  /** Handle, a DNS label; the issuer becomes `did:svc:<handle>`. */
  readonly handle: string;
  /** The first key; its secret is not sent. */
  readonly key: SigningKey;
  /** DID of the service; fetched from the service when absent. */
  readonly audience?: string | undefined;
}

/**
 * Registers a handle with proof that the caller holds the key (spec/trust.md).
 * @returns the new record, checked against its history
 * @throws invalid_did for an invalid handle; ServiceError (issuer_exists…)
 */
export async function registerIssuer(
  transport: Transport,
  { handle, key, audience }: RegisterIssuerParams,
  call: CallOptions = {},
): Promise<IssuerDocument> {
  const did = didSvc(handle);
  const signer = await signerOf(key);
  const statement = await signStatement(
    {
      audience: audience ?? (await didOfService(transport, call)),
      did,
      sequence: 1,
      action: 'register',
      keyId: signer.keyId,
      at: Date.now(),
    },
    signer,
  );
  return submitIssuerStatement(transport, statement, call);
}

/**
 * Sends a statement that `signStatement` made: it registers an issuer, or adds, retires or revokes a key (spec/trust.md).
 * @returns the record after it, checked against its history
 * @throws ServiceError (issuer_not_found, statement_sequence…)
 */
export async function submitIssuerStatement(
  transport: Transport,
  statement: SignedStatement,
  call?: CallOptions,
): Promise<IssuerDocument> {
  const { json } = await transport.post('/v1/issuers', statement, call);
  return checkedRecord(json, statement.statement.did);
}

async function didOfService(transport: Transport, call: CallOptions): Promise<string> {
  const { json } = await transport.get('/.well-known/did.json', call);
  const did = isObject(json) && Array.isArray(json.alsoKnownAs) ? json.alsoKnownAs[0] : undefined;
  if (typeof did === 'string') return did;
  const details = { status: 200, retryAfter: null, requestId: null, problem: null };
  throw new ServiceError('unavailable', 'The service does not state its DID. Give it as audience.', details);
}
