import { type Dispatcher, Pool } from 'undici';
import { cut, unreachable } from './failures.ts';
import { gather } from './gather.ts';
import type { Reply } from './reply.ts';
import { type Timeouts, Watch } from './watch.ts';

export interface TransportOptions {
  /** The provider's name in errors. */
  readonly name: string;
  /** Address of every call, from the operator's configuration only. */
  readonly baseUrl: string;
  readonly timeouts: Timeouts;
}

interface Outgoing {
  /** Added after the path of the base URL. */
  readonly path: string;
  readonly body: string;
  /** Whether the answer comes piece by piece, so that its first byte is expected soon. */
  readonly streamed: boolean;
  readonly signal: AbortSignal;
  /** All headers, the credentials included. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The kept-alive connections to one host. A redirect is an answer like any other. */
export interface Transport {
  /** The URL to which `post` sends. */
  urlOf(path: string): string;
  /** @throws ProviderError unreachable, timeout, aborted */
  post(outgoing: Outgoing): Promise<Reply>;
  close(): Promise<void>;
}

/** Milliseconds for a body to end after its last message. */
const drainMs = 1_000;
/** Shorter than servers usually allow, so that none closes a connection just as it is reused. */
const keepAliveMs = 4_000;

/** @throws TypeError for a base URL that is none, or that holds credentials */
export function openTransport({ name, baseUrl, timeouts }: TransportOptions): Transport {
  const base = new URL(baseUrl);
  if (!/^https?:$/.test(base.protocol) || base.username !== '' || base.password !== '')
    throw new TypeError(`The base URL of ${name} must be http or https and hold no credentials.`);
  const pool = new Pool(base.origin, {
    connect: { timeout: timeouts.connectMs },
    keepAliveTimeout: keepAliveMs,
    allowH2: false,
    // The watch times the call as a whole.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const prefix = base.pathname.replace(/\/+$/, '');
  const pathOf = (path: string): string => prefix + path + base.search;

  return {
    urlOf: (path) => base.origin + pathOf(path),
    async post({ path, body, streamed, signal, headers }) {
      const watch = new Watch(name, signal);
      watch.wait(streamed ? timeouts.firstByteMs : timeouts.answerMs);
      const request = {
        path: pathOf(path),
        method: 'POST',
        headers,
        body,
      } as const;
      if (!streamed) return gather(pool, request, { name, watch, idleMs: timeouts.idleMs });
      const abort = new AbortController();
      watch.endsBy(() => abort.abort());
      try {
        const response = await pool.request({ ...request, signal: abort.signal });
        return replyOf(name, response, watch, timeouts.idleMs);
      } catch {
        // The client's errors quote the host, so they are not passed on as causes.
        watch.release();
        throw watch.reason(unreachable(name));
      }
    },
    close: () => pool.destroy(),
  };
}

function replyOf(
  name: string,
  { statusCode, headers, body }: Dispatcher.ResponseData,
  watch: Watch,
  idleMs: number,
): Reply {
  // It may fail while nobody reads; the next reader gets the error.
  body.on('error', () => {});

  async function* bytes(): AsyncGenerator<Uint8Array> {
    let begun = false;
    try {
      for await (const chunk of body.iterator({ destroyOnReturn: false })) {
        // Only the provider's time counts, not the reader's.
        watch.pause();
        begun = true;
        yield chunk as Uint8Array;
        watch.wait(idleMs);
      }
    } catch {
      throw watch.reason(begun ? cut(name) : unreachable(name));
    } finally {
      watch.pause();
    }
  }

  return {
    status: statusCode,
    header: (header) => {
      const value = headers[header];
      return Array.isArray(value) ? value[0] : value;
    },
    bytes: bytes(),
    close(complete) {
      if (body.closed) return watch.release();
      body.once('close', () => watch.release());
      if (!complete) return void body.destroy();
      watch.wait(drainMs);
      body.resume();
    },
  };
}
