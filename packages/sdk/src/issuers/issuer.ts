import { checkIssuerDocument, type IssuerDocument, TallyError } from '@tallystick/core';
import type { CallOptions, Transport } from '../http/transport.ts';

/**
 * An issuer's record, after its keys were found to follow from its signed history. `status` is the service's
 * word: only a trust bundle proves that an issuer is verified.
 * @throws issuer_proof_invalid; ServiceError (issuer_not_found)
 */
export async function issuer(transport: Transport, did: string, call?: CallOptions): Promise<IssuerDocument> {
  const { json } = await transport.get(`/.well-known/issuers/${encodeURIComponent(did)}.json`, call);
  return checkedRecord(json as unknown as IssuerDocument, did);
}

/** The record, if it is that of the DID and follows from its history. @throws issuer_proof_invalid */
export async function checkedRecord(record: IssuerDocument, did: string): Promise<IssuerDocument> {
  await checkIssuerDocument(record);
  if (record.did !== did)
    throw new TallyError('issuer_proof_invalid', `The record is that of ${record.did}, not of ${did}.`);
  return record;
}
