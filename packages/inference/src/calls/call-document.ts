import { ENVELOPE_PROFILE, formatTimestamp, type JsonObject } from '@tallystick/core';
import { formatUsdc } from '@tallystick/ledger';
import type { ListedCall } from './call-store.ts';

/** What every call of a model is for, as its receipt says. */
export const CALL_PURPOSE = 'inference';

/** Members of {@link callDocument} in the order of the columns of a CSV file. */
export const CALL_COLUMNS = [
  'id',
  'at',
  'receipt_id',
  'model',
  'requested_model',
  'provider',
  'route_reason',
  'stream',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'cost_usdc',
  'saving_usdc',
  'first_byte_ms',
  'total_ms',
  'status',
  'error_code',
  'did',
  'key',
  'session',
  'tags',
  'request_hash',
  'purpose',
  'profile',
  'content_kept',
] as const;

/** A row as its caller sees it. Amounts are in USDC, as decimal text. */
export function callDocument(row: ListedCall): JsonObject {
  return {
    id: row.id,
    at: timeOf(row.at),
    receipt_id: row.receiptId,
    model: row.model,
    requested_model: row.requestedModel,
    provider: row.provider,
    route_reason: row.routeReason,
    stream: row.stream === 1,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    cached_tokens: row.cachedTokens,
    cost_usdc: formatUsdc(row.cost),
    saving_usdc: formatUsdc(row.saving),
    first_byte_ms: row.firstByteMs,
    total_ms: row.totalMs,
    status: row.status,
    error_code: row.errorCode,
    did: row.did,
    key: row.key,
    session: row.session,
    tags: row.tags === null ? {} : (JSON.parse(row.tags) as JsonObject),
    request_hash: row.requestHash === null ? null : `sha256:${row.requestHash}`,
    purpose: CALL_PURPOSE,
    profile: row.receiptId === null ? null : ENVELOPE_PROFILE,
    content_kept: row.contentKept === 1,
  };
}

/** RFC 3339 with milliseconds. */
function timeOf(unixMs: number): string {
  const text = formatTimestamp(unixMs);
  return text.length === 20 ? `${text.slice(0, -1)}.000Z` : text;
}
