import type { Profile } from '@tallystick/core';
import { type CallOptions, defined, type Transport } from '../http/transport.ts';

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

/** The recommended profile, the rule that chose it, and the other profiles. Prices are decimal text in US dollars. */
export interface Recommendation {
  readonly recommended_profile: Profile;
  readonly rule: 'regulated' | 'retention' | 'verify' | 'sub_cent' | 'commerce';
  readonly reason: string;
  readonly price_usd: string;
  readonly alternatives: readonly {
    readonly profile: Profile;
    readonly price_usd: string;
    readonly when: string;
  }[];
}

/** Asks the service to recommend a profile. @throws ServiceError */
export async function selectProfile(
  transport: Transport,
  { intent, amount, counterparty }: SelectProfileParams,
  call?: CallOptions,
): Promise<Recommendation> {
  const party = typeof counterparty === 'object' ? defined(counterparty) : counterparty;
  const { json } = await transport.post<Recommendation>(
    '/v1/rubric/select',
    { intent, amount, counterparty: party },
    call,
  );
  return json;
}
