import { type CallInput, isObject, type JsonValue, type ReadCall, readCall } from '@tallystick/core';
import { readBytes } from './input.ts';

export interface CallFiles {
  /** File of the request body that was sent. */
  readonly request?: string;
  /** File of the response body, or of the bytes of the stream. */
  readonly response?: string;
}

/** The bytes of the files of an inference call; null if no file is named. @throws UsageError, body_too_large */
export async function readCallFiles({ request, response }: CallFiles): Promise<CallInput | null> {
  if (request === undefined && response === undefined) return null;
  return {
    request: request === undefined ? undefined : await readBytes(request),
    response: response === undefined ? undefined : await readBytes(response),
  };
}

/** The checks of a receipt against the request and the answer that were given, one each. */
export function checksOfCall(call: CallInput, receipt: JsonValue): ReadCall['callChecks'] {
  const { callChecks } = readCall({ ...call, receipt: isObject(receipt) ? receipt : {} });
  return callChecks.filter(({ name }) => call[name === 'request' ? 'request' : 'response'] !== undefined);
}
