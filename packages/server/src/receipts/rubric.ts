import { PROFILES, type Profile } from '@tallystick/core';
import { PRICE_USD } from './pricing.ts';

export interface RubricRequest {
  readonly intent?: string | undefined;
  /** US dollars: a number, or decimal text such as `"0.009"`. */
  readonly amount?: number | string | undefined;
  readonly counterparty?: string | { readonly regulated?: boolean | undefined } | undefined;
}

export interface Recommendation {
  readonly recommended_profile: Profile;
  readonly rule: 'regulated' | 'verify' | 'sub_cent' | 'commerce';
  readonly reason: string;
  readonly price_usd: string;
  readonly alternatives: readonly {
    readonly profile: Profile;
    readonly price_usd: string;
    readonly when: string;
  }[];
}

const REGULATED =
  /\b(regulat\w*|complian\w*|audit\w*|gdpr|hipaa|sox|pci|kyc|aml|legal\w*|litigat\w*|court|medical|clinical|patient\w*|health\w*|insur\w*|tax\w*|retention|retain\w*|archiv\w*|evidence|long[- ]term|post[- ]?quantum|\d+[- ]years?)\b/i;
const VERIFYING = /\b(verif\w*|validat\w*|attest\w*|check\w*|heartbeat|ping|health-?check)\b/i;

const WHEN: Record<Profile, string> = {
  nano: 'high volume, sub-cent amounts, agent attestation; kept 30 days',
  standard: 'commerce: settlement, seal and reputation are part of the receipt; kept a year',
  pq: 'regulated or kept long: about seven years, with a declared crypto posture',
};

/** Recommends a profile: regulated wins, then verifying or less than a cent, else commerce (specification 4.1). */
export function recommend({ intent = '', amount, counterparty }: RubricRequest): Recommendation {
  const regulated = typeof counterparty === 'object' && counterparty.regulated === true;
  const word = REGULATED.exec(intent)?.[0];
  if (regulated || word !== undefined) {
    const cause = regulated ? 'The counterparty is regulated' : `The intent says “${word}”`;
    return recommendation('pq', 'regulated', `${cause}: such receipts are kept long.`);
  }
  if (VERIFYING.test(intent))
    return recommendation('nano', 'verify', 'The intent is to verify, not to trade.');
  if (amount !== undefined && Number(amount) < 0.01) {
    return recommendation('nano', 'sub_cent', 'The amount is less than a cent.');
  }
  return recommendation(
    'standard',
    'commerce',
    'Nothing says regulated, verify or sub-cent: this is commerce.',
  );
}

function recommendation(profile: Profile, rule: Recommendation['rule'], reason: string): Recommendation {
  return {
    recommended_profile: profile,
    rule,
    reason,
    price_usd: PRICE_USD[profile],
    alternatives: PROFILES.filter((other) => other !== profile).map((other) => ({
      profile: other,
      price_usd: PRICE_USD[other],
      when: WHEN[other],
    })),
  };
}
