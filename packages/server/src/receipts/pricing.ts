import type { Profile } from '@tallystick/core';

/** US dollars for a call, as decimal text (specification 4.1). */
export const PRICE_USD = { nano: '0.0001', standard: '0.0008', pq: '0.0012' } as const satisfies Record<
  Profile,
  string
>;
