import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a POST of JSON with headers and a request target that `fetch` would refuse. */
export async function rawPost(
  url: string,
  headers: Readonly<Record<string, string | string[]>>,
  body: string,
  target?: string,
): Promise<RawReply> {
  const { hostname, port, pathname, search } = new URL(url);
  const sent = request({
    hostname,
    port,
    path: target ?? pathname + search,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
}
