import { setTimeout } from 'node:timers/promises';
import { TallyError } from '@tallystick/core';
import { remark } from '../output.ts';
import { ProgressLine } from '../progress-line.ts';
import type { AnchorAnswer } from './results.ts';

const SECOND_MS = 1000;
/** Seconds between the first requests after the posting is due. */
const FIRST_PAUSE_S = 0.5;
const LAST_PAUSE_S = 15;
/** Most seconds between two requests: after a restart with a shorter period, a service may post earlier than it said. */
const LONGEST_PAUSE_S = 60;
/** Seconds after the due time until a message says that the posting may be delayed. */
const SAY_AFTER_S = 30;

/**
 * Waits until the hash is anchored: asks when the posting is due, then less and less often while the chain makes it final.
 * If the service can't answer at the moment, it is asked again.
 */
export async function untilAnchored(
  first: AnchorAnswer,
  ask: () => Promise<AnchorAnswer>,
): Promise<AnchorAnswer> {
  const line = new ProgressLine(process.stderr);
  let answer = first;
  let pause = FIRST_PAUSE_S;
  let pastDue = 0;
  try {
    while (answer.state.kind === 'pending') {
      const { etaSeconds } = answer.state;
      const isDue = etaSeconds === 0;
      await shownPause(line, isDue ? pause : Math.min(etaSeconds, LONGEST_PAUSE_S), etaSeconds);
      if (isDue) {
        if (pastDue < SAY_AFTER_S && pastDue + pause >= SAY_AFTER_S) showLate(line);
        pastDue += pause;
        pause = Math.min(pause * 1.5, LAST_PAUSE_S);
      }
      answer = await patiently(line, ask, answer);
    }
    return answer;
  } finally {
    line.end();
  }
}

function showLate(line: ProgressLine): void {
  line.end();
  remark(
    `Still pending, ${SAY_AFTER_S} s after the posting was due. Some chains take half an hour to make a block final. To see whether postings are held up: tally anchor status`,
  );
}

async function patiently(
  line: ProgressLine,
  ask: () => Promise<AnchorAnswer>,
  before: AnchorAnswer,
): Promise<AnchorAnswer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof TallyError) || !RETRIED.has(error.code)) throw error;
    line.end();
    remark(`${error.message} Asking again.`);
    return before;
  }
}

const RETRIED: ReadonlySet<string> = new Set(['unavailable', 'anchor_unavailable', 'rate_limited']);

async function shownPause(line: ProgressLine, seconds: number, etaSeconds: number): Promise<void> {
  const end = performance.now() + seconds * SECOND_MS;
  for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
    const posting = Math.max(0, Math.ceil(etaSeconds - seconds + left / SECOND_MS));
    line.draw((elapsedMs) => {
      const waited = Math.floor(elapsedMs / SECOND_MS);
      return posting > 0
        ? `the root is posted in ${posting} s (waited ${waited} s)`
        : `posted, or about to be; waiting for the chain (${waited} s)`;
    });
    await setTimeout(Math.min(left, process.stderr.isTTY ? SECOND_MS / 2 : left));
  }
}
