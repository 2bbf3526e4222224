import { createClient } from '@tallystick/sdk';

/** Where the compiler knows the web platform, the SDK's declarations use its types. */
const client = createClient({ baseUrl: 'http://127.0.0.1:8787', fetch: (url, init) => fetch(url, init) });

export const ended = (): Promise<unknown> => client.getReceipt('r_1', { signal: AbortSignal.timeout(1) });
// @ts-expect-error: a text is no AbortSignal.
export const wrong = (): Promise<unknown> => client.getReceipt('r_1', { signal: 'soon' });
