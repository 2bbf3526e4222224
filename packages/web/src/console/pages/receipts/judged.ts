import { utf8 } from '@tallystick/core';
import { coverageOf } from '../../../coverage.ts';
import { evaluate } from '../../../evaluate.ts';
import type { Later } from '../../../later/main.ts';
import sprite from '../../../sprite.html';
import templates from '../../../verdict.html';
import { drawn } from '../../../verdict.ts';
import { apiText } from '../../api.ts';
import { trustHere } from '../../trust.ts';
import { type Anchoring, anchoringOf } from './anchoring.ts';
import { type CorrectionOfReceipt, correctionsOf } from './corrected.ts';

/** A receipt of this service, judged here. */
export interface Judged {
  /** The receipt, byte for byte as the service gave it. */
  readonly text: string;
  /** Null if the document has not the form of a receipt. */
  readonly anchoring: Anchoring | null;
  readonly corrections: readonly CorrectionOfReceipt[];
  /** Number of the chain that the trust bundle names; null if it names none. */
  readonly chainId: number | null;
  /** What the verifier has drawn. */
  readonly parts: readonly Node[];
  /** The verdict in words. */
  readonly summary: string;
}

// Of the verifier's second script, what a receipt alone may need.
globalThis.tallystickLater = { coverageOf } as Later;

/** Fetches a receipt and its anchor and judges both, as the verifier page does. @throws ApiProblem */
export async function judgedReceipt(id: string, signal: AbortSignal): Promise<Judged> {
  const [text, trust] = await Promise.all([apiText(`/v1/receipt/${id}`, { signal }), trustHere(signal)]);
  const alone = { request: null, response: null, evidence: null, anchor: null, policy: null };
  const question = { receipt: utf8(text), ...alone, now: Date.now(), asOf: false, trust };
  const first = await evaluate(question);
  const hash = first.fault === null ? first.anchored : null;
  const [anchoring, corrections] =
    hash === null
      ? [null, []]
      : await Promise.all([
          anchoringOf(hash, signal),
          correctionsOf({ id, text }, { trust: trust.issuers, signal }),
        ]);
  const anchor = anchoring?.result ? utf8(JSON.stringify(anchoring.result)) : null;
  const outcome = anchor === null ? first : await evaluate({ ...question, anchor });
  provideTemplates();
  const chainId = trust.bundle?.chain?.chain_id ?? null;
  return { text, anchoring, corrections, chainId, ...drawn(outcome, { ...question, anchor }) };
}

/** Puts the templates and icons that the verifier draws with into the document, once. */
function provideTemplates(): void {
  if (document.getElementById('t-verdict') !== null) return;
  const parsed = new DOMParser().parseFromString(sprite + templates, 'text/html');
  document.body.append(...parsed.body.children);
}
