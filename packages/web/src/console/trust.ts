import { parseJson, utf8 } from '@tallystick/core';
import { type TrustInUse, trustAt } from '../trust.ts';
import { ApiProblem, apiText } from './api.ts';

/**
 * The trust to judge by: the bundle of this service, which must agree with the root that this browser remembers, if it
 * remembers one. A service without a bundle is judged by what is remembered.
 * @throws ApiProblem if the service can't be reached; json_*
 */
export async function trustHere(signal?: AbortSignal): Promise<TrustInUse> {
  return trustAt(Date.now(), await served(signal));
}

async function served(signal?: AbortSignal): Promise<Parameters<typeof trustAt>[1]> {
  try {
    const text = await apiText('/.well-known/trust.json', signal ? { signal } : {});
    return { site: location.origin, bundle: parseJson(utf8(text)) };
  } catch (error) {
    if (error instanceof ApiProblem && error.status !== null) return null;
    throw error;
  }
}
