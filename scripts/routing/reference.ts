import { DOMAINS, type Domain } from '../../packages/inference/src/catalogue/domains.ts';
import type { Reference } from '../../packages/inference/src/router/weights.ts';
import type { Graded } from './curve.ts';
import type { Example } from './data.ts';

/** Least distance of a reference pair: a smaller one would stretch the positions of all models between them. */
const LEAST_GAP = 0.05;
/** Number of average questions that are added to the questions of each domain, to smooth it. */
const SMOOTHING = 50;

/** The share of right answers of each model in each domain; of free prompts, which have one domain, in all. */
export function referenceOf(examples: readonly Example[]): Record<Domain, Reference> {
  const free = examples.every(({ features }) => features.form === 'free');
  const average = rates(examples, { weak: 0, strong: 0 }, 0);
  const entries = DOMAINS.map((domain) => {
    const part = free ? examples : examples.filter(({ features }) => features.domain === domain);
    return [domain, apart(rates(part, average, SMOOTHING))] as const;
  });
  return Object.fromEntries(entries) as Record<Domain, Reference>;
}

function rates(examples: readonly Graded[], prior: Reference, weight: number): Reference {
  const rate = (name: 'weak' | 'strong'): number =>
    (examples.reduce((sum, one) => sum + one[name], 0) + weight * prior[name]) / (examples.length + weight);
  return { weak: rate('weak'), strong: rate('strong') };
}

function apart({ weak, strong }: Reference): Reference {
  const round = (value: number): number => Math.round(value * 1e4) / 1e4;
  return { weak: round(weak), strong: round(Math.max(strong, weak + LEAST_GAP)) };
}
