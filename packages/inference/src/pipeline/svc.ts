import type { JsonObject } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import type { FailedTry } from './attempt.ts';
import type { KeyedReceipt } from './keyed-receipt.ts';

/** Who answered, and which tries failed before. */
export interface Served {
  readonly model: Model;
  readonly failed: readonly FailedTry[];
}

/** What the service adds to an answer. */
export interface Svc {
  readonly receipt: KeyedReceipt;
  /** JSON text of the router's explanation as it is, for it to be replayed; null where nothing was chosen. */
  readonly routing: string | null;
  readonly served: Served;
  readonly compression: JsonObject | null;
  readonly billing: JsonObject;
  /** How an x402 payment was settled, of a stream: of an answer in one piece a header says it. */
  readonly payment?: JsonObject | null;
}

/** The JSON text of `svc`, in which the receipt stands to the byte. */
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
