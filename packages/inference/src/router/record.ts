import type { Ability, Carried, Need } from '../catalogue/catalogue.ts';
import type { Domain } from '../catalogue/domains.ts';
import type { Difficulty } from './difficulty.ts';
import type { PromptFeatures } from './features.ts';

/** A model's state at the time of the decision. */
export interface CandidateRecord {
  readonly model: string;
  readonly provider: string;
  readonly context: number;
  readonly max_output: number;
  readonly abilities: readonly Ability[];
  /** Nano-USDC for 1,000,000 tokens, in decimal digits. */
  readonly input_price: string;
  readonly output_price: string;
  /** Prior for the domain of the request. */
  readonly prior: number;
  readonly available: boolean;
  /** Its provider last said that no calls of it are left for a while; absent if not. */
  readonly limited?: true;
  /** Whether the service itself is its provider; absent in explanations from before this was recorded. */
  readonly built_in?: boolean;
  /** Those of the needs that its provider's API can carry; absent where none of them is about that. */
  readonly carries?: readonly Carried[];
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
  readonly max_price: { readonly prompt: string | null; readonly completion: string | null };
  /** The model that the session is pinned to. */
  readonly pinned: string | null;
  readonly domain: Domain;
  /** Null where one model was asked for by name. */
  readonly features: Pick<PromptFeatures, 'form' | 'values'> | null;
  readonly candidates: readonly CandidateRecord[];
  /** Of the choice and its fallbacks, the models that the caller's balance does not cover. */
  readonly unaffordable: readonly string[];
}

export type Excluded = Need | 'provider' | 'price' | 'context' | 'health' | 'rate_limit' | 'built_in';

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
  /** What would be chosen costs more than the caller has. */
  | 'balance';

export interface RouteOutcome {
  readonly model: string;
  readonly fallbacks: readonly string[];
  readonly why: Why;
  /** What would be taken for any prompt of this domain and size. */
  readonly best_single: string | null;
  /** Null where the prompt is unlike the training data, or was not looked at. */
  readonly difficulty: Difficulty | null;
  readonly scores: readonly ScoreRecord[];
}

/** What an answer says of its route: enough to decide again, with `tally route explain`. */
export interface RouteExplanation {
  readonly version: 1;
  readonly inputs: RouteInputs;
  readonly outcome: RouteOutcome;
}
