import { readReceipt, verifyParsed } from '@tallystick/core';
import { byId } from '../dom.ts';
import type { Later } from './main.ts';

declare global {
  var tallystickLater: Later | undefined;
  var tallystickVerifier: object;
}

/** The page's second script, for what most readers never need: inference calls, sessions, foreign receipts, and the kinds of dropped files. */
export function later(): Later {
  if (globalThis.tallystickLater === undefined) {
    // scripts/bundle.ts: the second script has no verifier of its own.
    globalThis.tallystickVerifier = { readReceipt, verifyParsed };
    const script = document.createElement('script');
    script.textContent = byId('later').textContent;
    document.head.append(script);
  }
  return globalThis.tallystickLater as unknown as Later;
}
