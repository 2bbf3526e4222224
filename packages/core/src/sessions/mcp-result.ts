import type { JsonObject } from '../json/types.ts';
import { isObject } from '../receipts/shape.ts';

/** The member of `_meta` in which the result of a tool of the Model Context Protocol carries its receipt (spec/sessions.md). */
export const RECEIPT_META_KEY = 'tallystick/receipt';

/**
 * A tool's result as its receipt covers it: without the receipt in `_meta`, and without `_meta` if nothing else is in it.
 * It is the same before the receipt is added and after.
 */
export function resultWithoutReceipt(result: JsonObject): JsonObject {
  const { _meta: meta, ...rest } = result;
  if (!isObject(meta)) return result;
  const { [RECEIPT_META_KEY]: _receipt, ...others } = meta;
  return Object.keys(others).length === 0 ? rest : { ...rest, _meta: others };
}
