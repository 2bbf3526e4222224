import {
  EXIT,
  type Exit,
  nameOf,
  print,
  printJson,
  readJson,
  serviceAt,
  UsageError,
} from '@tallystick/cli/toolkit';
import { isObject, type JsonObject, TallyError } from '@tallystick/core';
import type { Report as Readiness } from '../../pilots/prospector/report.ts';
import { requirePartnerKey } from '../partner-key.ts';
import { table } from './table.ts';

export interface QualifyOptions {
  readonly descriptor?: string;
  readonly url: string;
  readonly apiKey?: string;
  readonly json?: boolean;
}

/** Has a surface checked and shows the report. */
export async function runQualify(origin: string | undefined, options: QualifyOptions): Promise<Exit> {
  const { url, apiKey, descriptor, json } = options;
  requirePartnerKey(apiKey);
  const request = await readRequest(origin, descriptor);
  const reply = await serviceAt(url, { apiKey }).post('/v1/prospector/qualify', request);
  if (!isObject(reply.json) || reply.json['type'] !== 'svc-readiness-v1')
    throw new TallyError('unavailable', `${url} answered with something that is not a readiness report.`);
  const report = reply.json as JsonObject & Readiness;
  if (json === true) printJson(report);
  else print(table(report));
  return report.verdict === 'ready' ? EXIT.ok : EXIT.failed;
}

async function readRequest(origin: string | undefined, file: string | undefined): Promise<JsonObject> {
  if ((origin === undefined) === (file === undefined))
    throw new UsageError('Give either an origin, such as https://example.com, or --descriptor <file>.');
  if (file === undefined) return { origin: origin ?? '' };
  const descriptor = await readJson(file);
  if (!isObject(descriptor))
    throw new UsageError(`${nameOf(file)} is not a descriptor, which is a JSON object.`);
  return { descriptor };
}
