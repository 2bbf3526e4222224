import { CARRIED_MEMBERS, type CarriedMember, type Profile, profiles, TallyError } from '@tallystick/core';
import type { EmitRequest } from './emit.ts';

const nameIt = ({ name }: { readonly name: Profile }): Profile => name;

const carriersOf = (member: CarriedMember): readonly Profile[] =>
  profiles.filter(({ carries }) => (carries as readonly CarriedMember[]).includes(member)).map(nameIt);

/** Which profiles have room for a member of an emit request, as a sentence; empty where all have. */
export function carriedNote(member: CarriedMember): string {
  const carriers = carriersOf(member);
  const others = profiles.map(nameIt).filter((name) => !carriers.includes(name));
  if (others.length === 0) return '';
  return carriers.length < others.length
    ? `${carriers.join(' and ')} only.`
    : `Not in ${others.join(' or ')}.`;
}

/**
 * Refuses what the receipt would not carry, so that nothing is accepted and then dropped. A member that is null says
 * nothing, and nothing of it is lost.
 * @throws unknown_field
 */
export function refuseUncarried(profile: Profile, request: EmitRequest): void {
  for (const name of CARRIED_MEMBERS) {
    const carriers = carriersOf(name);
    if (request[name] === undefined || request[name] === null || carriers.includes(profile)) continue;
    throw new TallyError(
      'unknown_field',
      `A ${profile} receipt has no ${name}. Leave it out, or choose the profile ${carriers.join(' or ')}.`,
      { field: name },
    );
  }
}
