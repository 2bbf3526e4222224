import autocannon from 'autocannon';

export interface Target {
  readonly path: string;
  readonly body?: string;
}

/** The requests of a load. */
export interface Requests {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  /** The same request each time, or a function that makes the next one, which costs the client more. */
  readonly target: Target | (() => Target);
}

/** Length of a load: seconds, or a number of answered requests. */
type Extent = { readonly duration: number } | { readonly amount: number };

/** Answered requests a second, and the times from request to answer in milliseconds. */
export interface Loaded {
  readonly rate: number;
  readonly answered: number;
  readonly p50: number;
  readonly p99: number;
}

/** Loads a server; any answer but 200 ends the run. */
export async function load(url: string, requests: Requests, extent: Extent): Promise<Loaded> {
  const { method, headers = {}, connections, target } = requests;
  const request =
    typeof target === 'function' ? { setupRequest: (one: object) => ({ ...one, ...target() }) } : target;
  const result = await autocannon({
    url,
    connections,
    ...extent,
    requests: [{ method, headers, ...request }],
  });
  const { non2xx, errors, latency, duration, '2xx': answered } = result;
  if (non2xx > 0 || errors > 0) {
    throw new Error(`At ${url}, ${non2xx} answers to ${method} were not 200 and ${errors} requests failed.`);
  }
  return { rate: answered / duration, answered, p50: latency.p50, p99: latency.p99 };
}
