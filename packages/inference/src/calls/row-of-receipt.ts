import { type JsonObject, type JsonValue, parseTimestamp } from '@tallystick/core';
import { parseUsdc } from '@tallystick/ledger';
import { asObject, asText } from '../providers/members.ts';
import type { NewCall, UnlistedCall } from './call-store.ts';

/** The row of a settled call, as far as its receipt tells it; empty where the receipt was deleted. */
export function rowOfReceipt({ id, owner, key, body }: UnlistedCall): NewCall[] {
  if (body === null) return [];
  const receipt = JSON.parse(body) as JsonObject;
  const call = asObject(receipt['call']) ?? {};
  const request = asObject(receipt['request']) ?? {};
  const settlement = asObject(receipt['settlement']) ?? {};
  const issued = parseTimestamp(asText(receipt['issued_at']) ?? '');
  const complete = call['complete'] === true;
  return [
    {
      id,
      owner,
      at: (issued?.seconds ?? 0) * 1_000 + Math.floor((issued?.nanos ?? 0) / 1e6),
      receiptId: id,
      model: asText(call['model']),
      requestedModel: asText(call['requested_model']) ?? '',
      provider: asText(call['provider']),
      routeReason: null,
      stream: call['stream'] === true ? 1 : 0,
      promptTokens: asNumber(call['prompt_tokens']),
      completionTokens: asNumber(call['completion_tokens']),
      cachedTokens: asNumber(call['cached_tokens']),
      cost: parseUsdc(asText(settlement['amount']) ?? '0'),
      saving: parseUsdc(asText(call['saving']) ?? '0'),
      firstByteMs: null,
      totalMs: null,
      status: 200,
      errorCode: complete ? null : 'client_closed',
      did: asText(request['origin']),
      key,
      session: null,
      tags: null,
      requestHash: asText(request['hash'])?.replace(/^sha256:/, '') ?? null,
      detail: null,
    },
  ];
}

function asNumber(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
