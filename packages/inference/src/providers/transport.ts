import { type Dispatcher, Pool } from 'undici';
import { cut, unreachable } from './failures.ts';
import { gather } from './gather.ts';
import type { Reply } from './reply.ts';
import { type Timeouts, Watch } from './watch.ts';

export interface TransportOptions {
  /** The provider's name in errors. */
  readonly name: string;
  /** Where every call goes; it comes from the operator's configuration only. */
  readonly baseUrl: string;
  /** Credentials among them; sent with every call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: Timeouts;
}

export interface Outgoing {
  /** Put after the path of the base URL. */
  readonly path: string;
  /** JSON. */
  readonly body: string;
  /** Whether the answer comes piece by piece, so that its first byte is to be expected soon. */
  readonly streamed: boolean;
  readonly signal: AbortSignal;
}

/** The connections to one host, kept alive. A redirect is an answer like any other. */
export interface Transport {
  /** @throws ProviderError unreachable, timeout, aborted */
  post(outgoing: Outgoing): Promise<Reply>;
  close(): Promise<void>;
}

/** How long a body may take to end after its last message. */
const drainMs = 1_000;
/** Shorter than what servers usually allow, so that they don't close a connection just as it is used again. */
const keepAliveMs = 4_000;

/** @throws TypeError for a base URL that is none, or that holds credentials */
export function openTransport({ name, baseUrl, headers, timeouts }: TransportOptions): Transport {
  const base = new URL(baseUrl);
  if (!/^https?:$/.test(base.protocol) || base.username !== '' || base.password !== '')
    throw new TypeError(`The base URL of ${name} must be http or https and hold no credentials.`);
  const pool = new Pool(base.origin, {
    connect: { timeout: timeouts.connectMs },
    keepAliveTimeout: keepAliveMs,
    allowH2: false,
    // A call is timed as a whole, by its watch.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const prefix = base.pathname.replace(/\/+$/, '');
  const allHeaders = { ...headers, 'content-type': 'application/json' };

  return {
    async post({ path, body, streamed, signal }) {
      const watch = new Watch(name, signal);
      watch.wait(streamed ? timeouts.firstByteMs : timeouts.answerMs);
      const request = {
        path: prefix + path + base.search,
        method: 'POST',
        headers: allHeaders,
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
  // It may fail while nobody reads; whoever reads next is told.
  body.on('error', () => {});

  async function* bytes(): AsyncGenerator<Uint8Array> {
    let begun = false;
    try {
      for await (const chunk of body.iterator({ destroyOnReturn: false })) {
        // Only the provider is timed, not whoever reads.
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
