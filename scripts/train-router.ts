// Trains the router's difficulty model on graded answers, which are not part of the project, and writes its weights
// with their origin and their results: `node scripts/train-router.ts`. Nothing in it is random.

import { writeFile } from 'node:fs/promises';
import { sha256Hex, utf8 } from '@tallystick/core';
import { CROSSED, FEATURE_NAMES, FIRST_DEMAND } from '../packages/inference/src/router/features.ts';
import { apgr } from './routing/curve.ts';
import { type Example, readRoutingData, STRONG, WEAK } from './routing/data.ts';
import { fitDemands, gradedSet } from './routing/demand-model.ts';
import { foldOfGroup, folds, gainOf, gainsOf } from './routing/evaluate.ts';
import { readLevels } from './routing/levels.ts';
import { referenceOf } from './routing/reference.ts';
import { train } from './routing/train.ts';

const { mmlu, gsm8k } = readRoutingData();
const choice = train(mmlu, ({ subject }) => subject);
const free = train(gsm8k, ({ group }) => String(group));

const levels = readLevels();
const numbers = {
  demands: fitDemands(levels, [gradedSet(mmlu), gradedSet(gsm8k)], choice.model),
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
    features: FIRST_DEMAND,
    crossed_features: CROSSED.map((index) => FEATURE_NAMES[index]),
    demands: {
      data: `${levels.length} prompts of the project's own in an order made by construction (bench/difficulty), and the graded answers`,
      graded_quality: 'none: the chances that a level is turned into are assumed',
      method: 'ridge regression around equal weights, signs fixed; nothing random',
    },
    apgr: {
      mmlu_subject_left_out: area(
        gainsOf(
          mmlu,
          folds(mmlu, ({ subject }) => subject),
        ),
        mmlu,
      ),
      gsm8k_ten_folds: area(
        gainsOf(
          gsm8k,
          folds(gsm8k, foldOfGroup, ({ group }) => String(group)),
        ),
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

function area(scores: Float64Array, examples: readonly Example[]): number {
  const indices = examples.map((_, index) => index);
  return Math.round(apgr(scores, examples, indices) * 1e4) / 1e4;
}

/** JSON in which each array of numbers is on one line. */
function layOut(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replace(/\[[\s\d.,e-]+\]/g, (numbers) => numbers.replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'))}\n`;
}
