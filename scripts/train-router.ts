// Trains the router's difficulty model on graded answers, which are not part of the project, and writes its weights
// with their origin and their results: `node scripts/train-router.ts`. Nothing in it is random.

import { writeFile } from 'node:fs/promises';
import { sha256Hex, utf8 } from '@tallystick/core';
import { DOMAINS, type Domain } from '../packages/inference/src/catalogue/domains.ts';
import { CROSSED, FEATURE_NAMES } from '../packages/inference/src/router/features.ts';
import type { Reference } from '../packages/inference/src/router/weights.ts';
import { apgr, type Graded } from './routing/curve.ts';
import { type Example, readRoutingData, STRONG, WEAK } from './routing/data.ts';
import { foldOfGroup, gainOf, heldOut } from './routing/evaluate.ts';
import { train } from './routing/train.ts';

/** Least distance of a reference pair: a smaller one would stretch the positions of all models between them. */
const LEAST_GAP = 0.05;
/** Number of average questions that are added to the questions of each domain, to smooth it. */
const SMOOTHING = 50;

const { mmlu, gsm8k } = readRoutingData();
const choice = train(mmlu, ({ subject }) => subject);
const free = train(gsm8k, ({ group }) => String(group));

const numbers = {
  models: { choice: choice.model, free: free.model },
  reference: { choice: referenceOf(mmlu), free: referenceOf(gsm8k) },
};
const file = {
  provenance: {
    script: 'scripts/train-router.ts',
    data: 'lm-sys/RouteLLM, benchmarks: graded answers to MMLU (form choice) and GSM8K (form free)',
    licence: 'Apache-2.0',
    weak_model: WEAK,
    strong_model: STRONG,
    examples: { choice: mmlu.length, free: gsm8k.length },
    method: 'ridge regression, closed form; nothing random, so no seed',
    penalty: { choice: choice.penalty, free: free.penalty },
    features: FEATURE_NAMES.length,
    crossed_features: CROSSED.map((index) => FEATURE_NAMES[index]),
    apgr: {
      mmlu_subject_left_out: area(
        heldOut(mmlu, ({ subject }) => subject),
        mmlu,
      ),
      gsm8k_ten_folds: area(
        heldOut(gsm8k, foldOfGroup, ({ group }) => String(group)),
        gsm8k,
      ),
      gsm8k_never_seen: area(
        Float64Array.from(gsm8k, (one) => gainOf(one, choice.model)),
        gsm8k,
      ),
    },
  },
  id: sha256Hex(utf8(JSON.stringify([FEATURE_NAMES, CROSSED, numbers]))).slice(0, 16),
  ...numbers,
};
const url = new URL('../packages/inference/src/router/weights.json', import.meta.url);
await writeFile(url, layOut(file));
console.log(`Wrote ${url.pathname}: ${JSON.stringify(file.provenance.apgr)}`);

function referenceOf(examples: readonly Example[]): Record<Domain, Reference> {
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

function area(scores: Float64Array, examples: readonly Example[]): number {
  const indices = examples.map((_, index) => index);
  return Math.round(apgr(scores, examples, indices) * 1e4) / 1e4;
}

/** JSON in which each array of numbers is on one line. */
function layOut(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replace(/\[[\s\d.,e-]+\]/g, (numbers) => numbers.replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'))}\n`;
}
