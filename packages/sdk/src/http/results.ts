import { ServiceError } from './service-error.ts';
import type { Reply } from './transport.ts';

/** What the API documents of an answer about several items. */
export interface Results<T> {
  readonly results: readonly T[];
}

/** The results in an answer about so many items, in their order. @throws ServiceError (unavailable) unless there is one for each */
export function resultsFor<T>({ json, headers }: Reply<Results<T>>, items: number): readonly T[] {
  const { results } = (json ?? {}) as { readonly results?: readonly T[] };
  if (Array.isArray(results) && results.length === items) return results;
  throw new ServiceError('unavailable', `The service did not give a result for each of ${items} items.`, {
    status: 200,
    retryAfter: null,
    requestId: headers.get('x-request-id'),
    problem: null,
  });
}
