import type { JsonObject } from '@tallystick/core';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { Readiness, RosettaAnswer, RosettaCrosswalk } from './documents.ts';
import { read, send } from './read.ts';

/** The pilots. `normalizePolicy` and `qualifyOrigin` need a partner's key as `apiKey`. */
export interface PartnerMethods {
  /** Expresses a policy for other jurisdictions. It is not legal advice. @throws ServiceError (unknown_jurisdiction…) */
  normalizePolicy(params: NormalizePolicyParams, call?: CallOptions): Promise<RosettaAnswer>;
  /** Reads the table that policies are compared with. Needs no key. */
  getCrosswalk(call?: CallOptions): Promise<RosettaCrosswalk>;
  /** Checks how ready an origin is for agents that buy there. @throws ServiceError (conflicting_fields, rate_limited) */
  qualifyOrigin(params: QualifyOriginParams, call?: CallOptions): Promise<Readiness>;
}

export interface NormalizePolicyParams {
  /** Jurisdiction for which the policy was written: `eu`. */
  readonly jurisdiction: string;
  /** Statements in the terms of the crosswalk, each concept at most once: `{ concept: 'retention', days: 400 }`. */
  readonly policy: readonly { readonly concept: string; readonly [term: string]: unknown }[];
  /** Jurisdictions to express the policy for. */
  readonly targets: readonly string[];
}

/** Exactly one of the two. */
export interface QualifyOriginParams {
  /** Scheme, host and optionally a port. */
  readonly origin?: string | undefined;
  /** A compute descriptor (specification 2.11) that names its origin. */
  readonly descriptor?: JsonObject | undefined;
}

export function partnerMethods(transport: Transport): PartnerMethods {
  return {
    normalizePolicy: ({ jurisdiction, policy, targets }, call) =>
      send(transport, '/v1/rosetta/normalize', { jurisdiction, policy, targets }, call),
    getCrosswalk: (call) => read(transport, '/v1/rosetta/crosswalk', call),
    qualifyOrigin: ({ origin, descriptor }, call) =>
      send(transport, '/v1/prospector/qualify', { origin, descriptor }, call),
  };
}
