import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface UpstreamRequest {
  readonly url: URL;
  readonly method: string;
  /** Names and values in turn, as `rawHeaders` of Node. */
  readonly headers: readonly string[];
  readonly body?: Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request. Resolves to the answer when its headers are there. Nothing is followed, decoded or timed: a tool may take
 * as long as it wants.
 */
export function send({ url, method, headers, body, signal }: UpstreamRequest): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: [...headers, 'Host', url.host], ...(signal && { signal }) });
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.end(body);
  });
}

/** All of a body. */
export async function bodyOf(message: AsyncIterable<unknown>, maxBytes = Infinity): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    length += (chunk as Buffer).length;
    if (length > maxBytes) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** The type in a Content-Type, without its parameters. */
export function typeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Whether the body is as the server wrote it, so that it can be read. */
export function isPlain({ headers }: IncomingMessage): boolean {
  return (headers['content-encoding'] ?? 'identity') === 'identity';
}
