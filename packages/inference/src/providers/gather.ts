import type { Dispatcher, Pool } from 'undici';
import { badAnswer, cut, unreachable } from './failures.ts';
import type { ProviderError } from './provider.ts';
import type { Reply } from './reply.ts';
import type { Watch } from './watch.ts';

/** The most bytes of an answer that are held. */
export const maxBodyBytes = 32 * 1_048_576;

interface GatherOptions {
  /** The provider's name in errors. */
  readonly name: string;
  /** Watches the answer; it has started. */
  readonly watch: Watch;
  /** How long the next bytes may take. */
  readonly idleMs: number;
}

/**
 * Sends a request and resolves once its whole answer has arrived, or broke off. It uses the pool's own events, because
 * a stream for each answer would cost as much as everything else about it.
 * @throws ProviderError unreachable, timeout, aborted: if not even the head of an answer arrived
 */
export function gather(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  { name, watch, idleMs }: GatherOptions,
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let head: Pick<Reply, 'status' | 'header'> | null = null;
  let under: Dispatcher.DispatchController | null = null;
  let over = false;

  const end = (failure: ProviderError | null): void => {
    if (over) return;
    over = true;
    watch.release();
    if (head !== null) resolve({ ...head, bytes: bytes(chunks, failure), close: () => {} });
    else reject(failure);
  };
  const stop = (failure: ProviderError): void => {
    end(failure);
    under?.abort(failure);
  };
  const broken = (): ProviderError => watch.reason(length > 0 ? cut(name) : unreachable(name));

  watch.endsBy(() => stop(broken()));
  // The client's errors quote the host, so they are not passed on as causes.
  const refused = (): void => end(broken());
  try {
    pool.dispatch(request, {
      onRequestStart(controller) {
        under = controller;
        if (over) controller.abort(broken());
      },
      onResponseStart(_controller, status, headers) {
        head = { status, header: (field) => single(headers[field]) };
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
        length += chunk.length;
        if (length > maxBodyBytes) stop(badAnswer(name));
        else if (!over) watch.wait(idleMs);
      },
      onResponseEnd: () => end(null),
      onResponseError: refused,
    });
  } catch {
    refused();
  }
  return promise;
}

async function* bytes(
  chunks: readonly Uint8Array[],
  failure: ProviderError | null,
): AsyncGenerator<Uint8Array> {
  yield* chunks;
  if (failure !== null) throw failure;
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
