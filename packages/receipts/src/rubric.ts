import { type Profile, profiles, type ReceiptProfile, type RecommendationRule } from '@tallystick/core';
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
  readonly rule: RecommendationRule;
  readonly reason: string;
  readonly price_usd: string;
  readonly alternatives: readonly {
    readonly profile: Profile;
    readonly price_usd: string;
    readonly when: string;
  }[];
}

/** What a rule found, or null where it does not apply. */
type Finding = Pick<Recommendation, 'rule' | 'reason'> | null;

/** The profile that a rule recommends. */
export function recommendedBy(rule: RecommendationRule): ReceiptProfile<Profile> {
  const all: readonly ReceiptProfile<Profile>[] = profiles;
  const found = all.find((profile) => profile.recommendedBy.includes(rule));
  if (found === undefined) throw new Error(`No profile is recommended by ${rule}.`);
  return found;
}

/**
 * Recommends a profile (specification 4.1). The first rule that applies decides: regulation, retention of more than a
 * year, verifying that is no part of a deal, less than a cent, else commerce. Words are read in English, and words that
 * the text denies do not count.
 */
export function recommend(request: RubricRequest): Recommendation {
  const { rule, reason } =
    byRegulation(request) ??
    byRetention(request) ??
    byVerifying(request) ??
    byAmount(request) ??
    commerce(request);
  const { name, priceUsd } = recommendedBy(rule);
  return {
    recommended_profile: name,
    rule,
    reason,
    price_usd: priceUsd,
    alternatives: profiles
      .filter((other) => other.name !== name)
      .map((other) => ({ profile: other.name, price_usd: other.priceUsd, when: other.when })),
  };
}

function byRegulation({ intent = '', counterparty }: RubricRequest): Finding {
  const found = (reason: string): Finding => ({ rule: 'regulated', reason });
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
  const usual = recommendedBy('commerce');
  const reason = `The intent says “${word}”, and a ${usual.name} receipt is kept for ${usual.retentionDays} days only.`;
  return { rule: 'retention', reason };
}

/** Verifying is nano's only where no deal is made: with money at stake, naming an invoice or a payment is enough. */
function byVerifying({ intent = '', amount }: RubricRequest): Finding {
  const word = firstAsserted(intent, VERIFIES);
  if (word === undefined) return null;
  const atStake = amount !== undefined && !isUnderACent(amount);
  const deal = firstAsserted(intent, atStake ? DEALS : TRADES);
  if (deal !== undefined) return null;
  const reason = `The intent is to verify (it says “${word}”), and it mentions no deal.`;
  return { rule: 'verify', reason };
}

function byAmount({ intent = '', amount }: RubricRequest): Finding {
  const found = (reason: string): Finding => ({ rule: 'sub_cent', reason });
  if (amount !== undefined) return isUnderACent(amount) ? found('The amount is less than a cent.') : null;
  const word = firstAsserted(intent, UNDER_A_CENT);
  return word === undefined ? null : found(`The intent says “${word}”, and no amount is given.`);
}

function commerce({ amount }: RubricRequest): NonNullable<Finding> {
  const money = amount === undefined ? 'No amount is given' : 'The amount is a cent or more';
  const reason = `${money}, and nothing points to regulation, long retention or mere verification: this is commerce.`;
  return { rule: 'commerce', reason };
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
