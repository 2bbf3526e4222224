import type { Model } from '../catalogue/catalogue.ts';
import { assumedOutput, TYPICAL_ANSWER } from '../learning/assumed.ts';
import type { PromptKind } from '../learning/kinds.ts';
import type { Learned } from '../learning/learned.ts';
import { type MeasuredRecord, measuredHash } from './measured-hash.ts';

/** What the candidates of a request are measured to be, and the hash that names all of it. */
export interface Measured {
  readonly of: ReadonlyMap<Model, MeasuredRecord>;
  /** Null where nothing is measured, and every model is assumed to give answers of the usual length. */
  readonly hash: string | null;
}

/** Reads what was learned for the candidates of a request: once for each state of the learning and kind of prompt. */
export class MeasuredModels {
  #learned: Learned | null = null;
  readonly #found = new Map<string, Measured>();

  /** @param key names the models @param kind null where the prompt was not read */
  read(learned: Learned, kind: PromptKind | null, models: readonly Model[], key: string): Measured {
    if (learned !== this.#learned) this.#found.clear();
    this.#learned = learned;
    const place = `${kind} ${key}`;
    const found = this.#found.get(place) ?? measure(learned, kind, models);
    this.#found.set(place, found);
    return found;
  }
}

function measure(learned: Learned, kind: PromptKind | null, models: readonly Model[]): Measured {
  const of = new Map(models.map((model) => [model, recordOf(learned, kind, model)]));
  return { of, hash: measuredHash(models.map((model) => ({ model: model.id, ...of.get(model) }))) };
}

function recordOf(learned: Learned, kind: PromptKind | null, model: Model): MeasuredRecord {
  const { id } = model;
  const assumed = assumedOutput(model);
  const output = learned.expectedOutput(id, kind, assumed) ?? assumed;
  const firstByte = learned.firstTokenMs(id, kind);
  const speed = learned.tokensPerSecond(id, kind);
  return {
    ...(output !== TYPICAL_ANSWER && { expected_output: output }),
    ...(firstByte !== null && { first_token_ms: firstByte }),
    ...(speed !== null && { tokens_per_second: speed }),
  };
}
