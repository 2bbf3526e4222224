import { checkIssuerDocument, type IssuerDocument, type JsonValue, TallyError } from '@tallystick/core';
import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';

/**
 * Fetches an issuer's record and checks that its keys follow from its signed history. `status` is only the service's
 * claim: a trust bundle is what proves that an issuer is verified.
 * @throws issuer_proof_invalid; ServiceError (issuer_not_found)
 */
export async function issuer(transport: Transport, did: string, call?: CallOptions): Promise<IssuerDocument> {
  const { json } = await transport.get(`/.well-known/issuers/${pathPart(did, 'did')}.json`, call);
  return checkedRecord(json, did);
}

/** Returns the record if it is of the DID and follows from its history. @throws issuer_proof_invalid */
export async function checkedRecord(document: JsonValue, did: string): Promise<IssuerDocument> {
  const record = await checkIssuerDocument(document);
  if (record.did !== did)
    throw new TallyError('issuer_proof_invalid', `The record is that of ${record.did}, not of ${did}.`);
  return record;
}
