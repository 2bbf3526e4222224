import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { envelope } from '../receipts/envelope.ts';
import { isObject } from '../receipts/shape.ts';
import { readReceipt } from '../verify.ts';
import { type Correction, correctionShape, type NamedReceipt } from './correction-shape.ts';

/** The families whose receipts can be corrected. */
const CORRECTABLE: ReadonlySet<string> = new Set(['envelope', 'metering']);

/**
 * What an envelope says that links a receipt to the one that supersedes it.
 * @param receipts both whole
 * @throws not_a_receipt; invalid_field for families that cannot be corrected or differ, for one receipt given twice, and for a
 * receipt that is a correction's link itself
 */
export function correctionOf(
  receipts: { readonly corrects: JsonValue; readonly correction: JsonValue },
  reason: string | null,
): Correction {
  const { corrects, correction } = receipts;
  const [first, second] = [familyOf(corrects, 'corrects'), familyOf(correction, 'correction')];
  if (first !== second) {
    throw fault('correction', `A receipt of the family ${first} is corrected by another one of it.`);
  }
  const call: Correction = {
    kind: 'correction',
    corrects: nameOf(corrects),
    correction: nameOf(correction),
    reason,
  };
  if (call.corrects.receipt_sha256 === call.correction.receipt_sha256) {
    throw fault('correction', 'A receipt cannot correct itself.');
  }
  return call;
}

function familyOf(document: JsonValue, field: string): string {
  const { family } = readReceipt(document);
  if (!CORRECTABLE.has(family.name))
    throw fault(field, 'Only envelopes and metering receipts can be corrected.');
  if (readCorrection(document) !== null) throw fault(field, 'What links two receipts cannot be corrected.');
  return family.name;
}

const fault = (field: string, message: string): TallyError =>
  new TallyError('invalid_field', message, { field });

/** A receipt's name for a correction. @throws not_a_receipt */
export function nameOf(document: JsonValue): NamedReceipt {
  const { family, receipt } = readReceipt(document);
  return {
    receipt_id: family.claims(receipt).receiptId,
    receipt_sha256: `sha256:${sha256Hex(canonicalBytes(family.anchored(receipt)))}`,
  };
}

/** What a document says of a correction; null if it is no envelope that links two receipts. */
export function readCorrection(document: JsonValue): Correction | null {
  if (!isObject(document) || !envelope.recognises(document)) return null;
  const { call } = document;
  return correctionShape(call, 'call') === null ? (call as JsonObject & Correction) : null;
}

/** Whether an envelope that links two receipts is for that alone: of the purpose `correction`, and about nothing else. */
export function isForCorrection(document: JsonValue): boolean {
  const { request, response } = isObject(document) ? document : {};
  return (
    isObject(request) &&
    isObject(response) &&
    request.purpose === 'correction' &&
    request.hash === null &&
    response.hash === null
  );
}
