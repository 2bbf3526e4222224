import type { EnvelopeFacts } from '@tallystick/core';
import type { OperatorFacts } from '../config.ts';

/** The members of an envelope that say who ran what it is of, where the service did so itself. */
export function ownOperation(
  entity: string,
  { region, trainingRegion, hardwareClass, attestation }: OperatorFacts,
): Pick<EnvelopeFacts, 'operator' | 'hardware'> {
  return {
    hardware: { attestation, class: hardwareClass },
    operator: { entity, region, training_region: trainingRegion },
  };
}
