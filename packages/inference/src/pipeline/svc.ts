import type { JsonObject } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import type { FailedTry } from './attempt.ts';
import type { KeyedReceipt } from './keyed-receipt.ts';

/** The model that answered, and the tries that failed before. */
export interface Served {
  readonly model: Model;
  readonly failed: readonly FailedTry[];
}

/** What the service adds to an answer. */
export interface Svc {
  readonly receipt: KeyedReceipt;
  /** JSON text of the router's explanation, unchanged so that it can be replayed; null if nothing was chosen. */
  readonly routing: string | null;
  readonly served: Served;
  readonly compression: JsonObject | null;
  readonly billing: JsonObject;
  /** The settlement of a stream's x402 payment. An answer in one piece has it in a header. */
  readonly payment?: JsonObject | null;
}

/** The JSON text of `svc`, with the receipt's exact bytes. */
export function svcText({ receipt, routing, served, compression, billing, payment = null }: Svc): string {
  const { model, failed } = served;
  const tries = failed.map((one) => ({ model: one.model, failed: one.kind, status: one.status }));
  const answered = { model: model.id, provider: model.provider, failed_tries: tries };
  const rest = {
    served: answered,
    compression,
    billing,
    ...(payment !== null && { payment }),
    ...(receipt.anchorFailed !== null && { anchor_failed: receipt.anchorFailed }),
  };
  return `{"receipt":${receipt.text},"routing":${routing},${JSON.stringify(rest).slice(1)}`;
}

/** A JSON object's text with `svc` as its last member. */
export function withSvc(objectText: string, svc: string): string {
  return objectText === '{}' ? `{"svc":${svc}}` : `${objectText.slice(0, -1)},"svc":${svc}}`;
}
