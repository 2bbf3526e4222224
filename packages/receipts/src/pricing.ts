import type { Profile } from '@tallystick/core';

/** US dollars for a receipt, as decimal text (specification 4.1). A metering receipt is kept as long as pq, and costs as much. */
export const PRICE_USD = {
  nano: '0.0001',
  standard: '0.0008',
  pq: '0.0012',
  metering: '0.0012',
} as const satisfies Record<Profile | 'metering', string>;
