import type { JsonObject } from '@tallystick/core';
import type { FailedTry } from '../calls/call-trail.ts';
import type { Model } from '../catalogue/catalogue.ts';
import type { RouteExplanation } from '../router/record.ts';
import type { KeyedReceipt } from './keyed-receipt.ts';

/** The model that answered, and the tries that failed before. */
export interface Served {
  readonly model: Model;
  readonly failed: readonly FailedTry[];
}

/** What the service adds to an answer. */
export interface Svc {
  readonly receipt: KeyedReceipt;
  readonly routing: RouteExplanation;
  readonly served: Served;
  readonly compression: JsonObject;
  readonly billing: JsonObject;
  /** The settlement of a stream's x402 payment. An answer in one piece has it in a header. */
  readonly payment?: JsonObject | null;
  /** Whether routing, compression and billing are given whole. */
  readonly explain: boolean;
}

/** Members that `svc.compression` and `svc.billing` have unless the whole is asked for. */
const SHORT_COMPRESSION = ['applied', 'reason', 'tier', 'tokens_before', 'tokens_after', 'note'];
const SHORT_BILLING = ['account', 'charge', 'saving', 'share'];

/** The JSON text of `svc`, with the receipt's exact bytes. What the short form has stands where the whole has it. */
export function svcText(svc: Svc): string {
  const { receipt, routing, served, payment = null, explain } = svc;
  const { model, failed } = served;
  const tries = failed.map((one) => ({ model: one.model, failed: one.kind, status: one.status }));
  const rest = {
    routing: explain ? routing : shortRoute(routing),
    served: { model: model.id, provider: model.provider, failed_tries: tries },
    compression: explain ? svc.compression : pick(svc.compression, SHORT_COMPRESSION),
    billing: explain ? svc.billing : pick(svc.billing, SHORT_BILLING),
    ...(payment !== null && { payment }),
    ...(receipt.anchorFailed !== null && { anchor_failed: receipt.anchorFailed }),
  };
  return `{"receipt":${receipt.text},${JSON.stringify(rest).slice(1)}`;
}

function shortRoute({ outcome: { model, why } }: RouteExplanation): JsonObject {
  return { outcome: { model, why } };
}

function pick(whole: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (name in whole ? [[name, whole[name] ?? null]] : [])));
}

/** A JSON object's text with `svc` as its last member. */
export function withSvc(objectText: string, svc: string): string {
  return objectText === '{}' ? `{"svc":${svc}}` : `${objectText.slice(0, -1)},"svc":${svc}}`;
}
