import type { Tariffs } from '../token-prices.ts';
import type { Domain } from './domains.ts';

/** Nano-USDC for 1,000,000 tokens. */
export interface Price extends Tariffs {
  /** Where the prices were read; null where the catalogue does not say. */
  readonly source?: PriceSource | null;
}

export interface PriceSource {
  /** Address of the page that states the prices. */
  readonly page: string;
  /** Day on which it was read, as `2026-11-23`. */
  readonly readOn: string;
  /** Whether a stored copy of the page was read, which may be older than that day. */
  readonly copy?: true;
  /** The last day on which the page promises them; absent where it promises nothing. */
  readonly validUntil?: string;
}

const NEEDED = ['tools', 'vision', 'json', 'logprobs', 'stream'] as const;
/** `reasoning` is whether the model takes an effort of reasoning; no request needs it. */
export const ABILITIES = [...NEEDED, 'reasoning'] as const;
export type Ability = (typeof ABILITIES)[number];

/**
 * What a request may need of a provider's API, beside the abilities of a model: a caller's protocol that the provider
 * speaks itself, several choices, files, sound, a tool that must be called, tools other than functions. The protocols
 * are first, because their refusal names the member that needs them.
 */
export const CARRIED = [
  'responses',
  'messages',
  'choices',
  'files',
  'audio',
  'forced_tools',
  'other_tools',
] as const;
export type Carried = (typeof CARRIED)[number];

export const NEEDS = [...NEEDED, ...CARRIED] as const;
export type Need = (typeof NEEDS)[number];

/** The lengths of the vectors that an embedding model can give. */
export interface Dimensions {
  /** The length where none is asked for. */
  readonly default: number;
  /** The shorter ones that it gives where they are asked for. */
  readonly shorter: 'any' | readonly number[];
}

export interface Model {
  /** `<provider>/<name>`, unique in the catalogue. */
  readonly id: string;
  readonly provider: string;
  /** Whether this process itself is the provider. */
  readonly builtIn: boolean;
  /** The provider's own name for it. */
  readonly upstreamModel: string;
  /** Most tokens of prompt and answer together. */
  readonly context: number;
  /** Most tokens of an answer. */
  readonly maxOutput: number;
  readonly abilities: ReadonlySet<Ability>;
  /** What its provider's API can carry. */
  readonly carries: ReadonlySet<Carried>;
  readonly kind: 'chat' | 'embedding';
  /** Absent where the catalogue does not say, and of a chat model. */
  readonly dimensions?: Dimensions;
  readonly price: Price;
  /**
   * The share of exam questions of a domain that the model is expected to answer correctly, 0 to 1: taken from
   * published results, not measured here.
   */
  readonly prior: Readonly<Record<Domain, number>>;
  readonly hardware: string | null;
  readonly region: string | null;
  /** Region in which the model was trained; null where the catalogue does not say. */
  readonly trainingRegion: string | null;
  /** `<type>:sha256:<64 hex>`: hash of an attestation document for the hardware that the model runs on. */
  readonly attestation: string | null;
  readonly tokenizer: 'o200k' | 'cl100k' | 'estimate';
  /** The day on which its provider shuts it down, as `2026-12-11`; absent where none is announced. */
  readonly retiresOn?: string;
  /** Ids of the models that its provider recommends instead. */
  readonly successors?: readonly string[];
}

/** The models whose provider is configured. */
export interface Catalogue {
  readonly models: readonly Model[];
  /** Finds a model by its id, or by the provider's own name if only one model has it. */
  find(idOrAlias: string): Model | null;
}

/** @param models with distinct ids */
export function createCatalogue(models: readonly Model[]): Catalogue {
  const byId = new Map(models.map((model) => [model.id, model]));
  const byName = new Map<string, Model | null>();
  for (const model of models) byName.set(model.upstreamModel, byName.has(model.upstreamModel) ? null : model);
  return {
    models,
    find: (idOrAlias) => byId.get(idOrAlias) ?? byName.get(idOrAlias) ?? null,
  };
}
