import type { Difficulty } from './difficulty.ts';
import type { Reference } from './weights.ts';

const LEAST = 0.005;

/**
 * The chance that a model answers correctly. Between the two graded models it is interpolated on their logits for this
 * prompt, by the model's prior between theirs; beyond them a logit of prior is a logit of chance. It never falls as the
 * prior rises.
 * @param prior the share of the domain's questions that the model is expected to answer correctly
 * @param difficulty null if nothing is known of the prompt: then the prior is returned
 */
export function quality(prior: number, difficulty: Difficulty | null, reference: Reference): number {
  if (difficulty === null) return prior;
  const place = logit(prior);
  const [lower, upper] = [logit(reference.weak), logit(reference.strong)];
  const weak = logit(difficulty.weak);
  const strong = logit(bounded(difficulty.weak) + Math.max(0, difficulty.gain));
  const between = (strong - weak) / (upper - lower);
  // Where the pair hardly differs, nor do others, but only graded answers tell how far beyond the pair.
  const beyond = difficulty.basis === 'construction' ? Math.min(1, between) : 1;
  if (place <= lower) return chance(weak - beyond * (lower - place));
  if (place >= upper) return chance(strong + beyond * (place - upper));
  return chance(weak + between * (place - lower));
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
