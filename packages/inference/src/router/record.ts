import type { Ability, Carried, Dimensions, Need } from '../catalogue/catalogue.ts';
import type { Domain } from '../catalogue/domains.ts';
import type { Ratings } from '../experiments/bandit.ts';
import type { ComparisonRecord } from '../experiments/compare.ts';
import type { Difficulty } from './difficulty.ts';
import type { PromptFeatures } from './features.ts';
import type { Strategy } from './sort.ts';

/** A model's state at the time of the decision. */
export interface CandidateRecord {
  readonly model: string;
  readonly provider: string;
  readonly context: number;
  readonly max_output: number;
  readonly abilities: readonly Ability[];
  /** Nano-USDC for 1,000,000 tokens, in decimal digits, by the tariff for a prompt of this length. */
  readonly input_price: string;
  readonly output_price: string;
  /** Prior for the domain of the request. */
  readonly prior: number;
  readonly available: boolean;
  /** Its provider last said that no calls of it are left for a while; absent if not. */
  readonly limited?: true;
  /** Its provider has shut it down by the catalogue's date; absent if not. */
  readonly retired?: true;
  /** Its price is older than the operator bills by; absent if not. */
  readonly outdated_price?: true;
  /** Whether the service itself is its provider; absent in explanations from before this was recorded. */
  readonly built_in?: boolean;
  /** Those of the needs that its provider's API can carry; absent where none of them is about that. */
  readonly carries?: readonly Carried[];
  /** The lengths of an embedding model's vectors, where the catalogue says them. */
  readonly dimensions?: Dimensions;
  /** Tokens that an answer is expected to have, reasoning included; absent where the usual length is assumed. */
  readonly expected_output?: number;
  /** Milliseconds until an answer's first byte for such prompts; absent, as the next one is, while nothing was measured. */
  readonly first_token_ms?: number;
  /** Tokens a second of an answer to such prompts after its first byte. */
  readonly tokens_per_second?: number;
  /** The caller's ratings of the model, where they steer the choice and there are any. */
  readonly ratings?: Ratings;
}

/** What qualities were drawn by. */
interface BanditRecord {
  /** In hex. */
  readonly seed: string;
  /** Names the ratings of all candidates by their hash (`ratingsHash`); absent in explanations from before this was recorded. */
  readonly ratings?: string;
}

/** Everything that a decision depends on, without any text of the prompt. */
export interface RouteInputs {
  /** Id of the weights by which the difficulty was predicted. */
  readonly weights: string;
  readonly requested: string;
  readonly prompt_tokens: number;
  readonly max_output_tokens: number;
  readonly cost_quality: number;
  readonly needs: readonly Need[];
  /** The member of the request that only a provider of the caller's own protocol can serve, if there is one. */
  readonly native_member?: string;
  readonly order: readonly string[];
  readonly only: readonly string[] | null;
  readonly ignore: readonly string[];
  /** Nano-USDC for 1,000,000 tokens, in decimal digits. */
  readonly max_price: {
    readonly prompt: string | null;
    readonly completion: string | null;
    /** Nano-USDC that the call may be expected to cost; absent without such a cap. */
    readonly request?: string;
  };
  /** Of a call for embeddings: the length of vectors that it asks for, null where any will do. Absent of other calls. */
  readonly dimensions?: number | null;
  /** Absent where quality and cost are balanced, without a budget. */
  readonly strategy?: Strategy;
  /** The model that the session is pinned to. */
  readonly pinned: string | null;
  readonly domain: Domain;
  /** Null where one model was asked for by name. */
  readonly features: Pick<PromptFeatures, 'form' | 'values'> | null;
  /** Names what was learned of all candidates by its hash (`measuredHash`); absent where their records say nothing of it. */
  readonly learned?: string;
  /** Absent where the call is in no comparison. */
  readonly comparison?: ComparisonRecord;
  /** Absent where the caller's ratings do not steer the choice. */
  readonly bandit?: BanditRecord;
  readonly candidates: readonly CandidateRecord[];
  /** Of the choice and its fallbacks, the models that the caller's balance does not cover. */
  readonly unaffordable: readonly string[];
}

export type Excluded = Need | (typeof OTHER_FILTERS)[number];

/** The filters beside those for the needs of a request. */
export const OTHER_FILTERS = [
  'retired',
  'outdated_price',
  'provider',
  'price',
  'context',
  'health',
  'rate_limit',
  'built_in',
  'budget',
  'dimensions',
] as const;

export interface ScoreRecord {
  readonly model: string;
  /** The filter that it did not pass; then it has no score. */
  readonly excluded: Excluded | null;
  /** The chance of a right answer, 0 to 1. */
  readonly quality: number | null;
  /** Nano-USDC, in decimal digits. */
  readonly expected_cost: string | null;
  /** Quality minus what the cost weighs; of the best single model with the margin on top. */
  readonly score: number | null;
}

export type Why =
  | 'explicit'
  | 'session'
  | 'only_candidate'
  | 'provider_order'
  | 'low_margin'
  | 'best_score'
  /** It is the first by what the strategy sorts by. */
  | 'strategy'
  /** What would be chosen costs more than the caller has. */
  | 'balance';

export interface RouteOutcome {
  readonly model: string;
  readonly fallbacks: readonly string[];
  readonly why: Why;
  /** What would be taken for any prompt of this domain and size. */
  readonly best_single: string | null;
  /** Null where the prompt has no text, or was not looked at. */
  readonly difficulty: Difficulty | null;
  readonly scores: readonly ScoreRecord[];
}

/** All about a route: enough to decide again, with `tally route explain`. */
export interface RouteExplanation {
  readonly version: 1;
  readonly inputs: RouteInputs;
  readonly outcome: RouteOutcome;
}
