import type { JsonObject } from '@tallystick/core';
import { contentsOf, lengthOf, materialOf } from './messages.ts';

/** Length in UTF-16 units from which repeated texts are worth a reference: as in `compress`. */
const MIN_REPEATED = 200;

/** A line on which JSON may begin. */
const jsonLine = /^[ \t\r]*[{[]/m;

/**
 * Whether lossless compression could change anything: there is JSON, a line three times in a row, or a repeated text.
 * It looks at each text once and counts nothing, so that a call with nothing to gain costs next to nothing.
 */
export function mayGain(messages: readonly JsonObject[]): boolean {
  return messages.some((message) => materialOf(message).some(isReducible)) || mayRepeat(messages);
}

function isReducible(text: string): boolean {
  // Most prose has neither bracket, which is found out far sooner.
  return ((text.includes('{') || text.includes('[')) && jsonLine.test(text)) || hasRun(text);
}

/** Whether three consecutive lines are equal and not blank. */
function hasRun(text: string): boolean {
  let before = '';
  let count = 0;
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    // Comparing lengths first avoids making a string of most lines.
    const same = end - start === before.length && text.startsWith(before, start);
    count = same ? count + 1 : 1;
    if (count >= 3 && before !== '') return true;
    if (!same) before = text.slice(start, end);
    start = end + 1;
  }
  return false;
}

/** Whether a text that may be changed repeats an earlier one. */
function mayRepeat(messages: readonly JsonObject[]): boolean {
  const seen = new Set<string>();
  for (const message of messages) {
    const material = new Set(materialOf(message));
    for (const text of contentsOf(message['content'])) {
      if (text.length < MIN_REPEATED) continue;
      if (material.has(text) && seen.has(text)) return true;
      seen.add(text);
    }
  }
  return false;
}

/** Whether a conversation has anything to cut, and is long enough for a provider to have cached it. */
export function isWorthNoting(messages: readonly JsonObject[]): boolean {
  return messages.some((message) => materialOf(message).length > 0) && lengthOf(messages) >= MIN_CACHED;
}

/** UTF-16 units below which providers certainly cache nothing of a prompt: 1,024 tokens are not shorter. */
const MIN_CACHED = 1_024;
