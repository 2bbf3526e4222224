import { type CallOptions, defined, type Transport } from '../http/transport.ts';
import type { Recommendation } from '../methods/documents.ts';
import { send } from '../methods/read.ts';

export interface SelectProfileParams {
  /** Purpose of the receipt, in words. */
  readonly intent?: string | undefined;
  /** Amount in US dollars: a number, or decimal text such as `0.009`. */
  readonly amount?: number | string | undefined;
  /** A DID, which is not examined, or words such as `a regulated bank`. */
  readonly counterparty?:
    | string
    | {
        readonly did?: string | undefined;
        readonly name?: string | undefined;
        readonly jurisdiction?: string | undefined;
        readonly regulated?: boolean | undefined;
      }
    | undefined;
}

/** Asks the service to recommend a profile. @throws ServiceError */
export async function selectProfile(
  transport: Transport,
  { intent, amount, counterparty }: SelectProfileParams,
  call?: CallOptions,
): Promise<Recommendation> {
  const party = typeof counterparty === 'object' ? defined(counterparty) : counterparty;
  return send(transport, '/v1/rubric/select', { intent, amount, counterparty: party }, call);
}
