import { defaultEngine, readReceipt, verifyParsed } from '@tallystick/core';
import { byId } from '../dom.ts';
import type { Later } from './main.ts';

declare global {
  var tallystickLater: Later | undefined;
  var tallystickVerifier: object;
  /** Files that the reader gave together. */
  var tallystickGiven: readonly File[] | undefined;
}

/** The page's second script, for what most readers never need: the five checks, inference calls, bills, sessions, foreign receipts, ML-DSA signatures, witness policies, evidence, chosen times, and the kinds of dropped files. */
export function later(): Later {
  if (globalThis.tallystickLater === undefined) {
    // scripts/bundle.ts: the other scripts have no verifier of their own.
    globalThis.tallystickVerifier = { defaultEngine, readReceipt, verifyParsed };
    run('later');
  }
  return globalThis.tallystickLater as unknown as Later;
}

/** Shows how receipts that were given together belong together, by the page's third script. */
export function judgeTogether(files: readonly File[]): void {
  later();
  globalThis.tallystickGiven = files;
  run('together');
}

function run(id: string): void {
  const script = document.createElement('script');
  script.textContent = byId(id).textContent;
  document.head.append(script);
}
