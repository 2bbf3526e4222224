import type { Difficulty } from './difficulty.ts';
import type { Reference } from './weights.ts';

const LEAST = 0.02;

/**
 * The chance that a model answers right: between the two graded models it is read off the line through their
 * logits on this prompt, at the place that the model's prior has between theirs; beyond them a logit of prior is a
 * logit of chance. Never falls as the prior rises.
 * @param prior the share of questions of the domain that the model is expected to answer right
 * @param difficulty null where nothing is known of the prompt: then the prior is the answer
 */
export function quality(prior: number, difficulty: Difficulty | null, reference: Reference): number {
  if (difficulty === null) return prior;
  const place = logit(prior);
  const [lower, upper] = [logit(reference.weak), logit(reference.strong)];
  const weak = logit(difficulty.weak);
  const strong = logit(bounded(difficulty.weak) + Math.max(0, difficulty.gain));
  if (place <= lower) return chance(weak - (lower - place));
  if (place >= upper) return chance(strong + (place - upper));
  return chance(weak + ((strong - weak) * (place - lower)) / (upper - lower));
}

function logit(share: number): number {
  const inside = bounded(share);
  return Math.log(inside / (1 - inside));
}

function chance(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

function bounded(share: number): number {
  return Math.max(LEAST, Math.min(1 - LEAST, share));
}
