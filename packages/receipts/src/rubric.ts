import { PROFILES, type Profile } from '@tallystick/core';
import { PRICE_USD } from './pricing.ts';
import { firstAsserted } from './rubric-text.ts';
import { DEALS, KEPT_LONG, REGULATED, TRADES, UNDER_A_CENT, VERIFIES } from './rubric-words.ts';

/** What is known of the other party. */
interface Counterparty {
  readonly name?: string | undefined;
  readonly jurisdiction?: string | undefined;
  /** Outranks what the name and the jurisdiction say. */
  readonly regulated?: boolean | undefined;
}

export interface RubricRequest {
  readonly intent?: string | undefined;
  /** US dollars: a number, or decimal text such as `"0.009"`. */
  readonly amount?: number | string | undefined;
  /** A DID, which is not read, or words such as `"a regulated bank"`. */
  readonly counterparty?: string | Counterparty | undefined;
}

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

/** What a rule found, or null where it does not apply. */
type Finding = Pick<Recommendation, 'recommended_profile' | 'rule' | 'reason'> | null;

const WHEN: Record<Profile, string> = {
  nano: 'high volume, sub-cent amounts, agent attestation; kept 30 days',
  standard: 'commerce: settlement, seal and reputation are part of the receipt; kept a year',
  pq: 'regulated or kept long: about seven years, with a declared crypto posture',
};

/**
 * Recommends a profile (specification 4.1). The first rule that applies decides: regulation, retention of more than a
 * year, verifying that is no part of a deal, less than a cent, else commerce. Words are read in English, and words that
 * the text denies do not count.
 */
export function recommend(request: RubricRequest): Recommendation {
  const { recommended_profile, rule, reason } =
    byRegulation(request) ??
    byRetention(request) ??
    byVerifying(request) ??
    byAmount(request) ??
    commerce(request);
  return {
    recommended_profile,
    rule,
    reason,
    price_usd: PRICE_USD[recommended_profile],
    alternatives: PROFILES.filter((other) => other !== recommended_profile).map((other) => ({
      profile: other,
      price_usd: PRICE_USD[other],
      when: WHEN[other],
    })),
  };
}

function byRegulation({ intent = '', counterparty }: RubricRequest): Finding {
  const found = (reason: string): Finding => ({ recommended_profile: 'pq', rule: 'regulated', reason });
  if (typeof counterparty === 'object' && counterparty.regulated === true) {
    return found(
      'The counterparty is declared to be regulated, and regulated parties keep receipts for long.',
    );
  }
  const word = firstAsserted(intent, REGULATED);
  if (word !== undefined) return found(`The intent says “${word}”, which points to a regulated matter.`);
  const party = firstAsserted(wordsOf(counterparty), REGULATED);
  if (party === undefined) return null;
  return found(`The counterparty’s description says “${party}”, which points to a regulated party.`);
}

function byRetention({ intent = '' }: RubricRequest): Finding {
  const word = firstAsserted(intent, KEPT_LONG);
  if (word === undefined) return null;
  const reason = `The intent says “${word}”, and a standard receipt is kept for 365 days only.`;
  return { recommended_profile: 'pq', rule: 'retention', reason };
}

/** Verifying is nano's only where no deal is made: with money at stake, naming an invoice or a payment is enough. */
function byVerifying({ intent = '', amount }: RubricRequest): Finding {
  const word = firstAsserted(intent, VERIFIES);
  if (word === undefined) return null;
  const atStake = amount !== undefined && !isUnderACent(amount);
  const deal = firstAsserted(intent, atStake ? DEALS : TRADES);
  if (deal !== undefined) return null;
  const reason = `The intent is to verify (it says “${word}”), and it mentions no deal.`;
  return { recommended_profile: 'nano', rule: 'verify', reason };
}

function byAmount({ intent = '', amount }: RubricRequest): Finding {
  const found = (reason: string): Finding => ({ recommended_profile: 'nano', rule: 'sub_cent', reason });
  if (amount !== undefined) return isUnderACent(amount) ? found('The amount is less than a cent.') : null;
  const word = firstAsserted(intent, UNDER_A_CENT);
  return word === undefined ? null : found(`The intent says “${word}”, and no amount is given.`);
}

function commerce({ amount }: RubricRequest): NonNullable<Finding> {
  const money = amount === undefined ? 'No amount is given' : 'The amount is a cent or more';
  const reason = `${money}, and nothing points to regulation, long retention or mere verification: this is commerce.`;
  return { recommended_profile: 'standard', rule: 'commerce', reason };
}

function isUnderACent(amount: number | string): boolean {
  return Number(amount) < 0.01;
}

/** A DID is an identifier: a word inside it states nothing. */
function wordsOf(counterparty: RubricRequest['counterparty']): string {
  if (counterparty === undefined) return '';
  if (typeof counterparty === 'string') return counterparty.startsWith('did:') ? '' : counterparty;
  if (counterparty.regulated === false) return '';
  return [counterparty.name, counterparty.jurisdiction].filter((text) => text !== undefined).join('. ');
}
