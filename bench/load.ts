import autocannon from 'autocannon';

export interface Target {
  readonly path: string;
  readonly body?: string;
}

/** Requests that a load repeats. */
export interface Requests {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  /** The same each time, or what makes the next one, which costs the client more. */
  readonly target: Target | (() => Target);
}

/** How long to load: some seconds, or until so many are answered. */
type Extent = { readonly duration: number } | { readonly amount: number };

/** Answered requests a second, and the times from request to answer in milliseconds. */
export interface Loaded {
  readonly rate: number;
  readonly answered: number;
  readonly p50: number;
  readonly p99: number;
}

/** Loads a server; anything but a 200 ends the run. */
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
