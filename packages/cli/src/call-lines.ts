import { isObject, type JsonValue } from '@tallystick/core';
import { printable } from './printable.ts';

/** Lines that show a person the facts in the receipt of an inference call; none for another receipt. */
export function* callLines(receipt: JsonValue): Generator<string> {
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
