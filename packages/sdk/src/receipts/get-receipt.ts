import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { StoredReceipt } from './documents.ts';
import { type Issued, issuedIn } from './issued.ts';

/** Reads a receipt that the service keeps, by its id. @throws ServiceError (receipt_not_found, receipt_purged) */
export async function getReceipt(
  transport: Transport,
  receiptId: string,
  call?: CallOptions,
): Promise<Issued<StoredReceipt>> {
  return issuedIn(await transport.get(`/v1/receipt/${pathPart(receiptId, 'receiptId')}`, call));
}
