import {
  checkedReceipt,
  nameOf,
  print,
  printJson,
  readJson,
  remark,
  serviceAt,
  UsageError,
  writeOut,
} from '@tallystick/cli/toolkit';
import { canonicalize, isObject, type JsonObject, readCall, TallyError } from '@tallystick/core';
import type { Normalized } from '../../pilots/rosetta/answer.ts';
import { requirePartnerKey } from '../partner-key.ts';
import { table } from './table.ts';

export interface NormalizeOptions {
  readonly to?: readonly string[];
  readonly url: string;
  readonly apiKey?: string;
  readonly out?: string;
  readonly receipt?: string;
  readonly idempotencyKey?: string;
  readonly json?: boolean;
}

const ROUTE = '/v1/rosetta/normalize';

/** Has a policy expressed for other jurisdictions, and shows how it fares there. */
export async function runNormalize(file: string, options: NormalizeOptions): Promise<void> {
  const { url, out, json, idempotencyKey } = options;
  requirePartnerKey(options.apiKey);
  const request = await readRequest(file, options.to);
  const { text, json: body } = await serviceAt(url, options).post(ROUTE, request, { idempotencyKey });
  if (!isObject(body) || body['type'] !== 'svc-rosetta-v1') throw unexpectedAnswer(url);
  const receipt = isObject(body['svc']) ? body['svc']['receipt'] : undefined;
  if (!isObject(receipt)) throw unexpectedAnswer(url);
  const receiptId = await checkedReceipt(receipt, url);
  const { callChecks } = readCall({ request, response: body });
  if (callChecks.some(({ ok }) => ok !== true)) {
    throw new TallyError('unavailable', `${url} answered with a receipt of another request or answer.`);
  }
  if (out !== undefined) writeOut(out, text);
  if (options.receipt !== undefined) writeOut(options.receipt, `${canonicalize(receipt)}\n`);
  if (json) printJson(body);
  else if (out === undefined) print(table(body as JsonObject & Normalized));
  if (!json) remark(`The receipt of this answer is ${receiptId}.`);
}

async function readRequest(file: string, to: readonly string[] | undefined): Promise<JsonObject> {
  const document = await readJson(file);
  if (!isObject(document)) {
    throw new UsageError(
      `${nameOf(file)} is not a policy: expected {"jurisdiction": "eu", "policy": [...]}.`,
    );
  }
  const request = to === undefined ? document : { ...document, targets: [...to] };
  if (request['targets'] === undefined) {
    throw new UsageError('Name the jurisdictions: --to uk,in, or "targets" in the file.');
  }
  return request;
}

function unexpectedAnswer(url: string): TallyError {
  return new TallyError(
    'unavailable',
    `${url} answered with something that is not a comparison with a receipt.`,
  );
}
