import type { Model } from '../catalogue/catalogue.ts';
import { type Rounds, totalOf } from '../pipeline/rounds.ts';
import { assumedOutput } from './assumed.ts';
import type { PromptKind } from './kinds.ts';
import type { Learned } from './learned.ts';
import type { Observation } from './measurement.ts';

/** When a provider was asked, and answered, in milliseconds of `performance.now()`. */
export interface AnswerTimes {
  readonly asked: number;
  /** When the answer began; of an answer in one piece, when it was there. */
  readonly begun: number;
  readonly ended: number;
}

/** What is learned of a call, beside its bill. */
export interface Lesson {
  /** Reads the prompt. */
  readonly kind: () => PromptKind;
  /** Whether the prompt was read already, so that its kind costs nothing. */
  readonly isRead: boolean;
  readonly choices: number;
  /** Most tokens that all choices together could have. */
  readonly limit: number;
  readonly times: AnswerTimes;
  readonly stream: boolean;
  /** Account that made the call. */
  readonly account: string;
  /** Part of a comparison that the call belongs to; null for none. */
  readonly arm: string | null;
}

/** A call whose answer came to its end, and is billed. */
export interface SettledCall {
  readonly receiptId: string;
  readonly model: Model;
  readonly rounds: Rounds;
  readonly lesson: Lesson;
}

/** Shorter answers tell of the wait for them, not of the speed. */
const LEAST_TOKENS = 16;

/** @param kind null where the prompt was not read */
export function observationOf(
  { model, rounds, lesson }: SettledCall,
  kind: PromptKind | null,
  learned: Learned,
): Observation {
  const { times, choices, limit, stream } = lesson;
  const all = totalOf(rounds).completionTokens;
  const tokens = Math.round(all / choices);
  const assumed = assumedOutput(model);
  const expected = learned.expectedOutput(model.id, kind, assumed) ?? assumed;
  // Of an answer that its limit cut, it is known only that it would have been at least as long.
  const isCut = all >= limit && tokens < expected;
  return {
    model: model.id,
    kind,
    tokens: isCut ? null : tokens,
    firstByteMs: stream ? times.begun - times.asked : null,
    tokensPerSecond: speedOf(rounds, stream, times),
  };
}

/**
 * Of a stream, after its first byte, unless there are hidden tokens, of which some came before. Null where a further
 * call was made for the answer, or it is too short.
 */
function speedOf(
  [first, ...more]: Rounds,
  stream: boolean,
  { asked, begun, ended }: AnswerTimes,
): number | null {
  const from = stream && first.hidden === undefined ? begun : asked;
  if (more.length > 0 || first.completionTokens < LEAST_TOKENS || ended <= from) return null;
  return (first.completionTokens * 1_000) / (ended - from);
}
