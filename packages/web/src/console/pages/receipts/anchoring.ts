import {
  fromHex,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  toBase64url,
  utf8,
} from '@tallystick/core';
import { ApiProblem, apiText } from '../../api.ts';

/** Where a receipt is in the log. */
export interface Anchoring {
  readonly state: 'pass' | 'unsure' | 'unknown';
  readonly title: string;
  readonly message: string;
  /** The anchored hash, base64url. */
  readonly hash: string;
  /** Its transaction; null until it is on the chain. */
  readonly tx: string | null;
  /** The anchored result; null until there is one. */
  readonly result: JsonObject | null;
}

/** Where the log has an anchored hash (hex). What the service says of it is not checked here. */
export async function anchoringOf(hex: string, signal: AbortSignal): Promise<Anchoring> {
  const hash = toBase64url(fromHex(hex));
  const of = (state: Anchoring['state'], title: string, message: string): Anchoring => ({
    state,
    title,
    message,
    hash,
    tx: null,
    result: null,
  });
  try {
    const text = await apiText(`/v1/anchor/by-hash/${hash}`, { signal, as: null });
    const answer = parseJson(utf8(text));
    return isObject(answer)
      ? { ...of('unsure', ...waiting(answer)), ...anchored(answer) }
      : of('unknown', UNKNOWN, '');
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    if (error.status !== 404) return of('unknown', UNKNOWN, error.message);
    return of(
      'unknown',
      'Not anchored',
      'It was minted without an anchor. You can still add its hash to the log: POST /v1/anchor with an API key, or tally anchor.',
    );
  }
}

const UNKNOWN = 'It is not known where it is anchored';

function anchored(answer: JsonObject): Partial<Anchoring> {
  const { merkle_root, leaf_index, network, block_height, tx_hash } = answer;
  if (merkle_root === undefined) return {};
  return {
    state: 'pass',
    title: 'Anchored',
    message: `It is leaf ${shown(leaf_index)} of the log, under a root that is final on ${shown(network)} in block ${shown(block_height)}.`,
    tx: typeof tx_hash === 'string' && /^0x[0-9a-f]{64}$/.test(tx_hash) ? tx_hash : null,
    result: answer,
  };
}

function waiting({ batch_id, eta_seconds }: JsonObject): [title: string, message: string] {
  const title = 'On its way to the chain';
  const at = shown(batch_id);
  if (eta_seconds === 0)
    return [title, `The log has its hash. The root that covers it was due at ${at} and is not final yet.`];
  const seconds = Number(eta_seconds);
  const left = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return [title, `The log has its hash. The root that covers it is posted at ${at}, in about ${left}.`];
}

const shown = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? `${value}` : '?';
