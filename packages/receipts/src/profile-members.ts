import { type Profile, TallyError } from '@tallystick/core';
import type { EmitRequest } from './emit.ts';

/** The members of an emit request that not every profile has room for, and the profiles that carry them. */
const CARRIED_BY = {
  purpose: ['standard', 'pq'],
  settlement_reference: ['standard', 'pq'],
  seal: ['standard', 'pq'],
  sealed_evidence_ref: ['pq'],
  auditor_verifier: ['pq'],
} as const satisfies Partial<Record<keyof EmitRequest, readonly Profile[]>>;

/**
 * Refuses what the receipt would not carry, so that nothing is accepted and then dropped. A member that is null says
 * nothing, and nothing of it is lost.
 * @throws unknown_field
 */
export function refuseUncarried(profile: Profile, request: EmitRequest): void {
  for (const name of Object.keys(CARRIED_BY) as (keyof typeof CARRIED_BY)[]) {
    const carriers: readonly Profile[] = CARRIED_BY[name];
    if (request[name] === undefined || request[name] === null || carriers.includes(profile)) continue;
    throw new TallyError(
      'unknown_field',
      `A ${profile} receipt has no ${name}. Leave it out, or choose the profile ${carriers.join(' or ')}.`,
      { field: name },
    );
  }
}
