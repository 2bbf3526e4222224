import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { CallContent } from './documents.ts';
import { read } from './read.ts';

/** Prompts and answers that the service keeps: of calls with `svc.keep`, where its operator allows it. */
export interface CallContentMethods {
  /**
   * Reads prompt and answer of a call. A part that was too long is null.
   * @param id of the call's receipt
   * @throws ServiceError (content_not_kept)
   */
  getCallContent(id: string, call?: CallOptions): Promise<CallContent>;
  /** Deletes prompt and answer of a call at once. @throws ServiceError (content_not_kept) */
  deleteCallContent(id: string, call?: CallOptions): Promise<void>;
}

export function callContentMethods(transport: Transport): CallContentMethods {
  const pathOf = (id: string): string => `/v1/compute/calls/${pathPart(id, 'id')}/content`;
  return {
    getCallContent: async (id, call) => read(transport, pathOf(id), call),
    async deleteCallContent(id, call) {
      await transport.delete(pathOf(id), call);
    },
  };
}
