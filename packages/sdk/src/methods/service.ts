import type { CallOptions, Transport } from '../http/transport.ts';
import type { DidDocument, Payable, Status } from './documents.ts';
import { read } from './read.ts';

/** What the service says of itself. Needs no key. */
export interface ServiceMethods {
  /** Reads the signed status of the endpoints and models. */
  getStatus(call?: CallOptions): Promise<Status>;
  /** Reads the service's DID document. */
  getDidDocument(call?: CallOptions): Promise<DidDocument>;
  /** Lists what can be paid for by x402. */
  listPayableResources(call?: CallOptions): Promise<Payable>;
}

export function serviceMethods(transport: Transport): ServiceMethods {
  return {
    getStatus: (call) => read(transport, '/status', call),
    getDidDocument: (call) => read(transport, '/.well-known/did.json', call),
    listPayableResources: (call) => read(transport, '/.well-known/x402', call),
  };
}
