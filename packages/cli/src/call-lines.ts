import { type Correction, isObject, type JsonValue, readCorrection } from '@tallystick/core';
import { printable } from './printable.ts';

function* correctionLines({ corrects, correction, reason }: Correction): Generator<string> {
  yield '';
  yield `  corrects     ${corrects.receipt_id}`;
  yield `  by           ${correction.receipt_id}`;
  if (reason !== null) yield `  reason       ${printable(reason)}`;
}

/** Lines that show a person what the receipt of an inference call, or of a correction, says; none for another receipt. */
export function* callLines(receipt: JsonValue): Generator<string> {
  const correction = readCorrection(receipt);
  if (correction !== null) return yield* correctionLines(correction);
  const call = isObject(receipt) ? receipt['call'] : undefined;
  if (!isObject(call) || !isObject(receipt)) return;
  const settlement = isObject(receipt['settlement']) ? receipt['settlement'] : {};
  const text = (value: JsonValue | undefined): string =>
    printable(typeof value === 'string' ? value : JSON.stringify(value ?? null));
  yield '';
  yield `  model        ${text(call['model'])}${call['complete'] === false ? ', ended early' : ''}`;
  yield `  tokens       ${text(call['prompt_tokens'])} in, ${text(call['completion_tokens'])} out, ${text(call['cached_tokens'])} of them cached`;
  if (settlement['amount'] !== undefined)
    yield `  charged      ${text(settlement['amount'])} ${text(settlement['asset'])}`;
  if (call['tokens_before'] !== undefined)
    yield `  compression  ${text(call['tokens_before'])} tokens of text to ${text(call['tokens_after'])}, which saved ${text(call['saving'])} ${text(settlement['asset'])} before the share`;
}
