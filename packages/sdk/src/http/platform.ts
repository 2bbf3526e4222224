/**
 * Types of the web platform by the consumer's own compiler settings: whatever brings them (`dom`, `@types/node`, Deno, Bun) decides
 * what they are. To a compiler that knows none of them they are `unknown`, so that the declarations compile there as well.
 */

type Instance<Name extends string> =
  typeof globalThis extends Record<Name, { readonly prototype: infer T }> ? T : unknown;

export type WebAbortSignal = Instance<'AbortSignal'>;
export type WebHeaders = Instance<'Headers'>;
export type WebResponse = Instance<'Response'>;

/** What `fetch` takes beside the URL. */
export type WebRequestInit = typeof globalThis extends {
  fetch: (input: string, init?: infer Init) => unknown;
}
  ? NonNullable<Init>
  : unknown;

/** What `fetch` takes as its first argument. */
export type WebFetchInput = typeof globalThis extends {
  fetch: (input: infer Input, init?: never) => unknown;
}
  ? Input
  : unknown;

/** What `fetch` takes as a body. */
export type WebBody = WebRequestInit extends { body?: infer Body } ? NonNullable<Body> : unknown;
