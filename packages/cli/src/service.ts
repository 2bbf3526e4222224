import { TallyError } from '@tallystick/core';
import { createTransport, type Reply, ServiceError, type Transport } from '@tallystick/sdk/transport';
import { Option } from 'commander';
import { jsonFault } from './input.ts';
import { UsageError } from './output.ts';

export type { Reply };

export const DEFAULT_URL = 'http://127.0.0.1:8787';
const TIMEOUT_MS = 30_000;

/** The option `--url`, read from TALLY_URL if it is not given. */
export function urlOption(): Option {
  return new Option('--url <url>', 'the service').env('TALLY_URL').default(DEFAULT_URL).argParser(serviceUrl);
}

/**
 * A service's URL in the one form under which it is saved: scheme, host, port and perhaps a path, without a
 * trailing slash.
 * @throws UsageError
 */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const host = /^[\w.-]+(?::\d+)?(?:\/|$)/.test(text) ? ` Did you mean https://${text}?` : '';
    throw new UsageError(`“${text}” is not the URL of a service, such as ${DEFAULT_URL}.${host}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('The URL of a service has no credentials, query or fragment.');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** An option whose value becomes a header. @throws UsageError for characters that a header can't carry */
export function headerOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text: string) => {
    if (/^[\t\x20-\x7e\xa0-\xff]*$/.test(text)) return text;
    throw new UsageError(`${flags.split(' ')[0]} holds a character that no HTTP header can carry.`);
  });
}

/** Identity of the caller, and the number of retries. */
export interface Asking {
  /** Sent to the service at this URL only: redirects are not followed. */
  readonly apiKey?: string | undefined;
  readonly agent?: string | undefined;
  /** Number of attempts after the first: the SDK's default when absent. */
  readonly retries?: number | undefined;
}

/**
 * The SDK's transport for the service at a URL (see `serviceUrl`), whose errors say what to do on a command line.
 * @throws the service's own code for a problem document; unavailable if there is no answer or it is not the service's
 */
export function serviceAt(url: string, { apiKey, agent, retries }: Asking = {}): Transport {
  const transport = createTransport({
    baseUrl: url,
    apiKey: apiKey === '' ? undefined : apiKey,
    agentDid: agent,
    retries,
    timeoutMs: TIMEOUT_MS,
  });
  const withServiceError = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      throw error instanceof ServiceError ? explained(error, url) : error;
    }
  };
  return {
    get: (...request) => withServiceError(transport.get(...request)),
    post: (...request) => withServiceError(transport.post(...request)),
    patch: (...request) => withServiceError(transport.patch(...request)),
    delete: (...request) => withServiceError(transport.delete(...request)),
    upload: (...request) => withServiceError(transport.upload(...request)),
    download: (...request) => withServiceError(transport.download(...request)),
    async *lines(...request) {
      try {
        yield* transport.lines(...request);
      } catch (error) {
        throw error instanceof ServiceError ? explained(error, url) : error;
      }
    },
  };
}

function explained(error: ServiceError, url: string): TallyError {
  const { status, problem, code, message, field, retryAfter } = error;
  if (status === null) return new TallyError('unavailable', unreached(error, url), { cause: error });
  if (error.cause instanceof TallyError) return jsonFault(error.cause, `The answer of ${url}`);
  if (problem === null) return new TallyError('unavailable', message, { cause: error });
  const wait =
    retryAfter === null || message.includes('Try again in') ? '' : ` Try again in ${retryAfter} s.`;
  return new TallyError(code, `${message}${wait}`, { field, cause: error });
}

function unreached({ cause }: ServiceError, url: string): string {
  if (!(cause instanceof Error)) return `Nothing answers at ${url}.`;
  // The timeout's signal is the only one that `fetch` gets.
  if (cause.name === 'AbortError') return `${url} did not answer within ${TIMEOUT_MS / 1000} s.`;
  const reason = cause.cause as NodeJS.ErrnoException | undefined;
  if (reason?.message === 'unexpected redirect')
    return `${url} redirects elsewhere: give the service’s own URL.`;
  const why = reason?.code === undefined ? '' : ` (${reason.code})`;
  return `Nothing answers at ${url}${why}. Start a service with: tally serve. Choose another with --url or TALLY_URL.`;
}
