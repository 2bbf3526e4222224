import { isObject, type JsonObject, parseJson, type ReadCall, readCall, TallyError } from '@tallystick/core';

/** Files of a call; null for those that were not given. */
interface CallFiles {
  readonly receipt: Uint8Array | null;
  readonly request: Uint8Array | null;
  readonly response: Uint8Array | null;
}

/** Reads a call. Its receipt is the one in the answer if none was given. */
export function read({ receipt, request, response }: CallFiles): ReadCall {
  return readCall({
    request: request ?? undefined,
    response: response ?? undefined,
    receipt: receipt ?? undefined,
  });
}

const stream = /^\s*(?:data|event|id|retry)?:/;
const ANSWERS = ['svc', 'choices', 'output'];
const REQUESTS = ['messages', 'prompt', 'input'];

/** Tells from a file's contents whether it is a request or an answer of a call; null if it is neither. */
export function partOf(bytes: Uint8Array): 'request' | 'response' | null {
  if (stream.test(new TextDecoder().decode(bytes.subarray(0, 1000)))) return 'response';
  const body = objectIn(bytes);
  const has = (name: string): boolean => Object.hasOwn(body, name);
  if (ANSWERS.some(has) || (body['type'] === 'message' && has('content'))) return 'response';
  return REQUESTS.some(has) ? 'request' : null;
}

function objectIn(bytes: Uint8Array): JsonObject {
  try {
    const value = parseJson(bytes);
    return isObject(value) ? value : {};
  } catch (error) {
    if (error instanceof TallyError) return {};
    throw error;
  }
}
