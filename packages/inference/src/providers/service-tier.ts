import type { JsonObject, JsonValue } from '@tallystick/core';
import { SERVICE_TIERS, type ServiceTier } from '../types.ts';

/** The class of service that a request asks for or an answer names, if its prices may differ from the standard ones. */
export function serviceTierOf({ service_tier: name }: JsonObject): { serviceTier?: ServiceTier } {
  const serviceTier = SERVICE_TIERS.find((one) => one === (name satisfies JsonValue | undefined));
  return serviceTier === undefined ? {} : { serviceTier };
}
