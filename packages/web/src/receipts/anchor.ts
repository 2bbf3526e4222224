import { fromHex, isObject, type JsonObject, type JsonValue, toBase64url } from '@tallystick/core';
import { element, icon, type State } from '../dom.ts';
import { fetchJson, isRequestFailure, reasonOf } from '../fetch-answer.ts';
import { receiptsProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';

/** Position of a receipt in the log. */
export interface Anchoring {
  readonly state: State;
  readonly title: string;
  readonly message: string;
  /** The anchored result; null until there is one. */
  readonly result: JsonObject | null;
}

/** Fetches the anchor of an anchored hash (hex). Never throws. */
export async function anchoringOf(hash: string): Promise<Anchoring> {
  const answer = await fetchJson(`/v1/anchor/by-hash/${toBase64url(fromHex(hash))}`);
  if (isRequestFailure(answer)) {
    return answer.status === 404
      ? of('unknown', prose.none, prose.noneMessage)
      : of('unknown', prose.notAsked, reasonOf(answer, prose));
  }
  return isObject(answer) ? read(answer) : of('unknown', prose.notAsked, '');
}

function read(answer: JsonObject): Anchoring {
  const { merkle_root, leaf_index, network, block_height, batch_id, eta_seconds } = answer;
  if (merkle_root !== undefined) {
    const message = formatText(prose.anchoredMessage, leaf_index, network, block_height);
    return { ...of('pass', prose.anchored, message), result: answer };
  }
  const message = eta_seconds === 0 ? prose.overdueMessage : prose.pendingMessage;
  return of('unsure', prose.pending, formatText(message, batch_id, durationOf(eta_seconds)));
}

const of = (state: State, title: string, message: string): Anchoring => ({
  state,
  title,
  message,
  result: null,
});

/** Formats a duration: `40 s`, `12 min`. */
function durationOf(seconds: JsonValue | undefined): string {
  const whole = Number(seconds);
  return whole < 120 ? formatText(prose.seconds, whole) : formatText(prose.minutes, Math.round(whole / 60));
}

/** Draws the state in words, beside its sign. */
export function stateLine({ state, title, message }: Anchoring): HTMLElement {
  const line = element('p', 'standing', icon(state), element('strong', '', `${title}.`), ` ${message}`);
  line.dataset.state = state;
  return line;
}
