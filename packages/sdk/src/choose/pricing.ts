import type { CallOptions, Transport } from '../http/transport.ts';
import type { Pricing } from '../methods/documents.ts';
import { read } from '../methods/read.ts';

/** Returns the prices and retentions of receipts. @throws ServiceError */
export function pricing(transport: Transport, call?: CallOptions): Promise<Pricing> {
  return read(transport, '/pricing', call);
}
