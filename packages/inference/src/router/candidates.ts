import type { Carried, Model } from '../catalogue/catalogue.ts';
import type { Domain } from '../catalogue/domains.ts';
import { type UpkeepTerms, upkeepOf } from '../catalogue/upkeep.ts';
import type { Ratings } from '../experiments/bandit.ts';
import type { Health } from '../resilience/health.ts';
import { type TokenPrices, tariffFor } from '../token-prices.ts';
import type { Measured } from './measured.ts';
import type { CandidateRecord } from './record.ts';

/** What the router knows of models while they are called. */
export interface CalledModels extends Pick<Health, 'rest'> {
  /** Whether a model's provider last said that no calls of it are left for a while; when absent none is. */
  readonly limited?: (model: Model) => boolean;
}

/** What the records of all candidates of a request have in common. */
export interface Circumstances {
  readonly domain: Domain;
  readonly promptTokens: number;
  /** Of these models, and no others. */
  readonly measured: Measured;
  /** By model; null where they do not steer the choice. */
  readonly ratings: ReadonlyMap<string, Ratings> | null;
  readonly carried: readonly Carried[];
  readonly upkeep: UpkeepTerms | undefined;
}

type Flags = Pick<CandidateRecord, 'retired' | 'outdated_price'>;

const DAY_MS = 86_400_000;
/** Lists of records that are kept of one state of the learning. */
const MOST = 200;

/**
 * Makes the records of a request's candidates. They are much of what a route allocates and change seldom, so that a list
 * is made once and given again while nothing in it has changed.
 */
export class Candidates {
  readonly #models: CalledModels;
  readonly #descriptions: ReadonlyMap<Model, Description>;
  readonly #made = new WeakMap<Measured, Map<string, readonly CandidateRecord[]>>();
  readonly #flags = new Map<Model, Flags>();
  #flagsOn = '';

  /** @param known the models whose descriptions are asked for again and again */
  constructor(models: CalledModels, known: readonly Model[]) {
    this.#models = models;
    this.#descriptions = new Map(known.map((model) => [model, describe(model)]));
  }

  of(models: readonly Model[], circumstances: Circumstances): readonly CandidateRecord[] {
    const { measured, ratings } = circumstances;
    const states = models.map((model) => this.#stateOf(model, circumstances));
    const make = () => states.map((state) => this.#recordOf(state, circumstances));
    if (ratings !== null) return make();
    const lists = this.#made.get(measured) ?? new Map<string, readonly CandidateRecord[]>();
    this.#made.set(measured, lists);
    const place = placeOf(states, circumstances);
    const found = lists.get(place);
    if (found !== undefined) return found;
    if (lists.size >= MOST) lists.clear();
    const list = make();
    lists.set(place, list);
    return list;
  }

  #stateOf(model: Model, { promptTokens, upkeep }: Circumstances): State {
    return {
      model,
      prices: model.price.tariffs === undefined ? null : tariffFor(model.price, { promptTokens }),
      available: this.#models.rest(model) === null,
      limited: this.#models.limited?.(model) === true,
      flags: upkeep === undefined ? {} : this.#flagsOf(model, upkeep),
    };
  }

  /** What keeps an entry of the catalogue from being used follows from dates, and holds for a day (UTC). */
  #flagsOf(model: Model, terms: UpkeepTerms): Flags {
    const today = `${Math.floor(terms.now / DAY_MS)} ${terms.maxPriceAgeDays}`;
    if (today !== this.#flagsOn) this.#flags.clear();
    this.#flagsOn = today;
    const flags = this.#flags.get(model) ?? flagsOf(model, terms);
    this.#flags.set(model, flags);
    return flags;
  }

  #recordOf(
    { model, prices, available, limited, flags }: State,
    { domain, measured, ratings, carried }: Circumstances,
  ): CandidateRecord {
    const rated = ratings?.get(model.id);
    return {
      ...(this.#descriptions.get(model) ?? describe(model)),
      ...(prices !== null && pricesOf(prices)),
      ...measured.of.get(model),
      ...(rated !== undefined && { ratings: rated }),
      prior: model.prior[domain],
      available,
      ...(limited && { limited: true }),
      ...flags,
      ...(carried.length > 0 && { carries: carried.filter((need) => model.carries.has(need)) }),
    };
  }
}

type Description = Omit<CandidateRecord, 'prior' | 'available'>;

/** What may differ in the records of one model, beside what the candidates of a request have in common. */
interface State {
  readonly model: Model;
  /** By the tariff for a prompt of this length; null for a model with one price. */
  readonly prices: TokenPrices | null;
  readonly available: boolean;
  readonly limited: boolean;
  readonly flags: Flags;
}

/** Names all that a list of records depends on, beside what was measured. */
function placeOf(states: readonly State[], { domain, carried }: Circumstances): string {
  const each = states.map(({ model, prices, available, limited, flags }) => {
    const tariff = prices === null ? -1 : (model.price.tariffs?.findIndex((one) => one === prices) ?? -1);
    const { retired = false, outdated_price: outdated = false } = flags;
    return `${tariff}${available}${limited}${retired}${outdated}`;
  });
  return `${domain} ${carried.join()} ${each.join()}`;
}

function pricesOf({
  inputPerMTok,
  outputPerMTok,
}: TokenPrices): Pick<CandidateRecord, 'input_price' | 'output_price'> {
  return { input_price: inputPerMTok.toString(), output_price: outputPerMTok.toString() };
}

/** What keeps a catalogue's entry from being used. */
export function flagsOf(model: Model, terms: UpkeepTerms | undefined): Flags {
  const upkeep = terms === undefined ? null : upkeepOf(model, terms);
  if (upkeep === 'retired') return { retired: true };
  return upkeep === 'price_outdated' ? { outdated_price: true } : {};
}

/** What does not change between decisions. */
export function describe(model: Model): Description {
  return {
    model: model.id,
    provider: model.provider,
    context: model.context,
    max_output: model.maxOutput,
    abilities: [...model.abilities],
    ...pricesOf(model.price),
    built_in: model.builtIn,
  };
}
