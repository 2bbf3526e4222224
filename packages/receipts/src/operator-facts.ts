import type { EnvelopeFacts } from '@tallystick/core';

/** What the operator says about where the service runs and on what hardware. Envelopes repeat it; null where it is not said. */
export interface OperatorFacts {
  readonly region: string | null;
  /** Where the models that the service runs itself were trained. */
  readonly trainingRegion: string | null;
  readonly hardwareClass: string | null;
  /** `<type>:sha256:<64 hex>`: the SHA-256 of an attestation document of that type. */
  readonly attestation: string | null;
}

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
