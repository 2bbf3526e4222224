import type { NewCall } from '../../packages/inference/src/index.ts';
import type { ListedReceipt } from '../../packages/receipts/src/index.ts';

/** Days over which the rows of a list are spread evenly. */
const DAYS = 30;
const DAY_MS = 86_400_000;

/** How many rows a list has, the time of the last one in Unix milliseconds, and whose they are. */
export interface Shape {
  readonly rows: number;
  readonly owner: string;
  /** Public id of the API key of most rows. */
  readonly key: string;
  readonly until: number;
  /** Tells the ids of lists apart. */
  readonly salt: number;
}

const MODELS = [
  ['openai/gpt-5-mini', 'openai'],
  ['openai/gpt-5', 'openai'],
  ['anthropic/claude-haiku-4-5', 'anthropic'],
  ['anthropic/claude-sonnet-4-5', 'anthropic'],
  ['google/gemini-2.5-flash', 'google'],
  ['mistral/mistral-small', 'mistral'],
  ['local/extract-1', 'local'],
  ['openai/gpt-4o', 'openai'],
] as const;

const ENDS = [
  [200, null],
  [429, 'rate_limited'],
  [502, 'provider_failed'],
  [404, 'model_not_found'],
] as const;

const TEAMS = ['search', 'support', 'billing', 'mobile', 'research'];
const AGENTS = 1_000;
/** Numbers of rows in a session, and in a batch run. */
const SESSION = 40;
const RUN = 2_000;
const PER_RARE = 100_000;

/** The first time of a list in Unix milliseconds. */
export function beginOf({ until }: Shape): number {
  return until - DAYS * DAY_MS;
}

export const agentOf = (index: number): string => `did:web:agent-${index % AGENTS}.example`;
export const sessionOf = (index: number): string => `session-${Math.floor(index / SESSION)}`;
export const runOf = (index: number): string => `run:${Math.floor(index / RUN)}`;
export const hashOf = (index: number): string => hex(index, 64, 1);
/** What one row in 100,000 has. */
export const RARE = {
  model: 'openai/o3-pro',
  provider: 'rare',
  error: 'internal',
  purpose: 'audit',
} as const;

/** A row's place, for what both lists have. */
function placeOf(index: number, shape: Shape): { id: string; at: number } {
  const begin = beginOf(shape);
  const at = begin + Math.floor(((shape.until - begin) * index) / shape.rows);
  return { id: `r_env_${Math.floor(at / 1_000)}_${hex(index, 12, shape.salt)}`, at };
}

export const idOf = (index: number, shape: Shape): string => placeOf(index, shape).id;

/** The call number `index` of a list, as a service would write it; the same each time. */
export function callOf(index: number, shape: Shape): NewCall {
  const { id, at } = placeOf(index, shape);
  const [a, b, c, d] = [part(index, 3), part(index, 4), part(index, 5), part(index, 6)];
  const rare = index % PER_RARE === PER_RARE - 1;
  // Most calls go to the first models.
  const [model, provider] = rare
    ? [RARE.model, RARE.provider]
    : (MODELS[Math.floor(a * a * MODELS.length)] ?? MODELS[0]);
  const [status, errorCode] = rare
    ? [500, RARE.error]
    : (ENDS[b < 0.95 ? 0 : 1 + Math.floor((b - 0.95) * 60)] ?? ENDS[0]);
  const tokens = Math.floor(200 * Math.exp(c * 4));
  const billed = errorCode === null;
  const tags =
    index % 2 === 0 ? { team: TEAMS[Math.floor(d * TEAMS.length)] ?? '', run: runOf(index).slice(4) } : null;
  const total = Math.floor(150 * Math.exp(d * 5));
  return {
    id: billed ? id : id.replace('r_env', 'call'),
    owner: shape.owner,
    at,
    receiptId: billed ? id : null,
    model,
    requestedModel: a < 0.5 ? 'auto' : model,
    provider,
    routeReason: a < 0.5 ? 'best_score' : 'explicit',
    stream: index % 3 === 0 ? 1 : 0,
    promptTokens: billed ? tokens : null,
    completionTokens: billed ? Math.floor(tokens / 3) : null,
    cachedTokens: billed ? 0 : null,
    cost: billed ? BigInt(Math.floor(1_000 * Math.exp(c * 9))) : 0n,
    saving: 0n,
    firstByteMs: Math.floor(total / 3),
    totalMs: total,
    status,
    errorCode,
    did: index % 10 < 3 ? agentOf(index) : null,
    key: index % 20 === 0 ? `key_${hex(index % 16, 16, 7)}` : shape.key,
    session: index % 5 < 2 ? sessionOf(index) : null,
    tags: tags === null ? null : JSON.stringify(tags),
    requestHash: billed ? hashOf(index) : null,
    detail: null,
  };
}

/** The receipt number `index` of a list, as a service would write it; the same each time. */
export function receiptOf(index: number, shape: Shape): ListedReceipt {
  const { id, at } = placeOf(index, shape);
  const [a, b, c] = [part(index, 3), part(index, 4), part(index, 5)];
  const rare = index % PER_RARE === PER_RARE - 1;
  const [model, provider] = MODELS[Math.floor(a * a * MODELS.length)] ?? MODELS[0];
  return {
    id,
    owner: shape.owner,
    at,
    profile: b < 0.9 ? 'standard' : 'nano',
    purpose: rare
      ? RARE.purpose
      : b < 0.7
        ? 'inference'
        : `order of team ${TEAMS[Math.floor(c * TEAMS.length)]}`,
    did: index % 10 < 3 ? agentOf(index) : null,
    model: rare ? RARE.model : b < 0.7 ? model : null,
    provider: rare ? RARE.provider : b < 0.7 ? provider : null,
    status: rare ? 'error' : b < 0.7 ? 'ok' : null,
    key: index % 20 === 0 ? `key_${hex(index % 16, 16, 7)}` : shape.key,
    requestHash: hashOf(index),
    session: index % 5 < 2 ? sessionOf(index) : null,
    cost: b < 0.7 ? BigInt(Math.floor(1_000 * Math.exp(c * 9))) : null,
    leafIndex: index,
    expiresAt: Math.floor(shape.until / 1_000) + 400 * 86_400,
  };
}

/** Pseudo-random number from 0 to 1 of a row, by splitmix32. */
function part(index: number, salt: number): number {
  let value = Math.imul(index + 1, 0x9e3779b9) + Math.imul(salt, 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  value = Math.imul(value ^ (value >>> 15), 0x735a2d97);
  return ((value ^ (value >>> 15)) >>> 0) / 2 ** 32;
}

function hex(index: number, length: number, salt: number): string {
  let text = '';
  for (let n = 0; text.length < length; n += 1)
    text += Math.floor(part(index, salt * 100 + n) * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  // Mixed into the end so that no two rows have the same text.
  return (text.slice(0, length - 8) + index.toString(16).padStart(8, '0')).slice(-length);
}
