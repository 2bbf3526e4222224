import { type CallOptions, defined, type Transport } from '../http/transport.ts';

/** Reads the document at a path. @param query parameters; the undefined ones are left out */
export async function read<T>(
  transport: Transport,
  path: string,
  call?: CallOptions,
  query: object = {},
): Promise<T> {
  const { json } = await transport.get<T>(withQuery(path, query), call);
  return json;
}

/** Posts the members that are not undefined, and returns the document of the answer. */
export async function send<T>(
  transport: Transport,
  path: string,
  members: object,
  call?: CallOptions,
): Promise<T> {
  const { json } = await transport.post<T>(path, members, call);
  return json;
}

/** Reads a text, such as a signed note. */
export async function readText(transport: Transport, path: string, call?: CallOptions): Promise<string> {
  return new TextDecoder().decode(await transport.download(path, 'text/plain', call));
}

export function withQuery(path: string, query: object): string {
  const given = Object.entries(defined(query)).map(([name, value]) => [name, String(value)]);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
