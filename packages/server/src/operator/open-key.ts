import { print, printJson, readJson, readSecretKey, remark, serviceAt } from '@tallystick/cli/toolkit';
import { isObject, type JsonValue, TallyError } from '@tallystick/core';
import { openSealedKey } from '@tallystick/payments';

/** Opens a sealed key and shows it. @throws seal_invalid, seal_wrong_key, order_not_found */
export async function open(
  order: string,
  { key, url, json }: { key: string; url: string; json?: boolean },
): Promise<void> {
  const secret = await readSecretKey(key);
  const sealed = /^ord_\w+$/.test(order) ? await fetchSealed(url, order) : await readJson(order);
  const opened = openSealedKey(sealed, secret);
  if (json) return printJson(opened);
  print(opened.key);
  remark(`${opened.key_id}, tier ${opened.tier}, paid until ${opened.paid_until}.`);
}

async function fetchSealed(url: string, order: string): Promise<JsonValue> {
  const { json: body } = await serviceAt(url).get(`/v1/anchor/keys/orders/${order}`);
  if (isObject(body) && isObject(body.sealed)) return body.sealed;
  const state = isObject(body) && typeof body.state === 'string' ? body.state : 'unknown';
  throw new TallyError(
    'seal_invalid',
    `The order has no key that is sealed to a DID; its state is ${state}.`,
  );
}
