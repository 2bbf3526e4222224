import { type IssuerRecord, registeredIssuer } from '@tallystick/core';
import { readJson } from './input.ts';
import { describe, UsageError } from './output.ts';

/** Reads the issuer of a record `svc-issuer-v1` from a file. @throws UsageError if the record does not follow from its history */
export async function readIssuer(path: string | undefined): Promise<IssuerRecord | undefined> {
  if (path === undefined) return undefined;
  const document = await readJson(path);
  try {
    return await registeredIssuer(document);
  } catch (error) {
    const { code, message } = describe(error);
    throw new UsageError(`${path}: ${message}`, { code, cause: error });
  }
}
