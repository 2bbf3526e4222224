import { randomBytes } from 'node:crypto';
import { callerAccount } from '@tallystick/ledger';
import { AUTO } from '../router/auto.ts';
import type { Ratings } from './bandit.ts';
import { armOf, type ComparisonRecord } from './compare.ts';
import type { KnownRatings } from './known-ratings.ts';
import type { Experiments, KeyExperiments } from './schema.ts';

/** What chance decides of a route, before anything else is decided. */
export interface Drawn {
  /** Null where the caller's own, or the default, counts. */
  readonly costQuality: number | null;
  readonly comparison: ComparisonRecord | null;
  readonly bandit: { readonly seed: string; readonly ratings: ReadonlyMap<string, Ratings> } | null;
}

/** What a request says of its route. */
interface DrawnRequest {
  readonly model: string;
  readonly session: string | null;
  readonly costQuality: number | null;
}

interface ExperimentContext {
  readonly experiments: Experiments;
  readonly ratings: Pick<KnownRatings, 'of'>;
}

/**
 * Draws for one call. A call of a named model, or of a session, which keeps its model, takes part in nothing; one that
 * says what quality is worth takes part in no comparison.
 * @param own what the API key that pays has set for itself
 */
export async function draw(
  { experiments: { compare, bandit = [] }, ratings }: ExperimentContext,
  { model, session, costQuality }: DrawnRequest,
  { account, own }: { readonly account: string; readonly own: KeyExperiments },
): Promise<Drawn> {
  const takesPart = model === AUTO && session === null;
  const isCompared = takesPart && compare !== undefined && costQuality === null && own.compare !== 0;
  const isListed = (): boolean => bandit.some((name) => name === '*' || callerAccount(name) === account);
  const isSteered = takesPart && (own.bandit ?? isListed());
  const comparison = isCompared ? drawArm({ ...compare, share: own.compare ?? compare.share }) : null;
  return {
    costQuality: comparison?.arm === 'b' && compare !== undefined ? compare.cost_quality : costQuality,
    comparison,
    bandit: isSteered ? { seed: newSeed(), ratings: await ratings.of(account) } : null,
  };
}

function drawArm({ name, share }: Pick<ComparisonRecord, 'name' | 'share'>): ComparisonRecord {
  const seed = newSeed();
  return { name, share, seed, arm: armOf({ name, share, seed }) };
}

const newSeed = (): string => randomBytes(16).toString('hex');
