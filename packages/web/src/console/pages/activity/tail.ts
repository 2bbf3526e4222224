import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, api, apiEvents, type ListPage } from '../../api.ts';
import { identity } from '../../identity/identity.ts';
import { problemOf } from '../../load.ts';
import type { Call } from './documents.ts';

/** Newest calls that are kept while the list is live. */
export const KEPT = 500;
/** Milliseconds without a byte after which a connection counts as lost: the service sends something every 15 seconds. */
const SILENT_MS = 45_000;
/** Milliseconds before the first new try; each one that fails doubles them. */
const WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Milliseconds after its end within which a call is listed. */
const LATE_MS = 5_000;

/** `waiting`: the connection was lost, and is tried again. */
type TailState = 'off' | 'connecting' | 'live' | 'waiting';

interface Tail {
  /** Calls that came in, newest first. They stay when the list is no longer live. */
  readonly calls: readonly Call[];
  /** Whether there were more of them than are kept. */
  readonly cut: boolean;
  readonly state: TailState;
  /** Why the service refuses to go on. */
  readonly problem: ApiProblem | null;
}

interface Following {
  readonly on: boolean;
  readonly filters: Readonly<Record<string, string>>;
  /** The list that the calls come on top of, newest first, and Unix seconds at which its range begins. */
  readonly rows: readonly Call[];
  readonly from: number;
  /** Called when the service refuses, which another try would not change. */
  readonly refused: () => void;
}

/**
 * Calls that came in since the list was read. Whenever the connection is made anew, what it missed is read from the list.
 */
export function useTail({ on, filters, rows, from, refused }: Following): Tail {
  const [{ calls, cut }, setCalls] = useState(NONE);
  const [state, setState] = useState<TailState>('off');
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const listed = useRef(0);
  listed.current = rows[0] === undefined ? from * 1_000 : Date.parse(rows[0].at);
  const key = JSON.stringify(filters);
  useEffect(() => setCalls(NONE), [key, identity.value]);
  useEffect(() => {
    if (!on) return setState('off');
    setProblem(null);
    const aborter = new AbortController();
    const { signal } = aborter;
    let newest = 0;
    const tail = new Connection(filters, signal, (calls, more) => {
      newest = Math.max(newest, ...calls.map(({ at }) => Date.parse(at)));
      setCalls((held) => merged(held, calls, more));
    });
    const follow = async (): Promise<void> => {
      const since = (): number => (newest === 0 ? listed.current : newest) - LATE_MS;
      let failures = 0;
      while (!signal.aborted) {
        await tail.follow(since, () => {
          failures = 0;
          setState('live');
        });
        if (signal.aborted) return;
        setState('waiting');
        await passed(Math.min(WAIT_MS * 2 ** failures, LONGEST_WAIT_MS), signal);
        failures += 1;
      }
    };
    setState('connecting');
    follow().catch((error: unknown) => {
      if (signal.aborted) return;
      setProblem(problemOf(error));
      refused();
    });
    return () => aborter.abort();
  }, [on, key, identity.value]);
  return { calls, cut, state, problem };
}

const NONE: Held = { calls: [], cut: false };

/** Connections to the service, one after another. */
class Connection {
  readonly #filters: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;
  readonly #add: (calls: readonly Call[], more: boolean) => void;

  constructor(
    filters: Readonly<Record<string, string>>,
    signal: AbortSignal,
    add: (calls: readonly Call[], more: boolean) => void,
  ) {
    this.#filters = filters;
    this.#signal = signal;
    this.#add = add;
  }

  /**
   * Follows the calls until the connection is lost or the service ends it.
   * @param since Unix milliseconds from which on calls may be missing
   * @param live called once nothing is missing any more
   * @throws ApiProblem if the service refuses
   */
  async follow(since: () => number, live: () => void): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([this.#signal, lost.signal]);
    let silence: ReturnType<typeof setTimeout> | undefined;
    let filled: Promise<void> | undefined;
    const heard = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => lost.abort(), SILENT_MS);
      // From its first byte on, the service sends every call that is listed.
      filled ??= this.#fill(since(), signal).then(live, (error: unknown) => {
        lost.abort();
        throw error;
      });
      filled.catch(() => {});
    };
    silence = setTimeout(() => lost.abort(), SILENT_MS);
    try {
      const request = { query: this.#filters, signal };
      for await (const call of apiEvents<Call>('/v1/compute/calls/live', 'call', request, heard))
        this.#add([call], false);
      await filled;
    } catch (error) {
      if (!isLost(error)) throw error;
    } finally {
      clearTimeout(silence);
      lost.abort();
    }
  }

  async #fill(since: number, signal: AbortSignal): Promise<void> {
    const query = { ...this.#filters, from: new Date(Math.max(0, since)).toISOString(), limit: KEPT };
    const { data, next_cursor: next } = await api<ListPage<Call>>('/v1/compute/calls', { query, signal });
    this.#add(data, next !== null);
  }
}

/** Whether an error is one of the network, or of a service that is not there at the moment. */
function isLost(error: unknown): boolean {
  if (error instanceof ApiProblem)
    return error.status === null || error.status >= 500 || error.status === 429;
  return error instanceof TypeError || error instanceof DOMException;
}

type Held = Pick<Tail, 'calls' | 'cut'>;

/** Puts calls to those that are held, each once, newest first. @param more whether some before them were not read */
function merged(held: Held, calls: readonly Call[], more: boolean): Held {
  const byId = new Map([...calls, ...held.calls].map((call) => [call.id, call]));
  const all = [...byId.values()].toSorted(
    (one, other) => Date.parse(other.at) - Date.parse(one.at) || (other.id < one.id ? -1 : 1),
  );
  return { calls: all.slice(0, KEPT), cut: held.cut || more || all.length > KEPT };
}

/** Resolves after so many milliseconds, or once the browser is online again. */
async function passed(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const done = new AbortController();
  addEventListener('online', () => resolve(), { signal: done.signal });
  signal.addEventListener('abort', () => resolve(), { signal: done.signal });
  await promise;
  clearTimeout(timer);
  done.abort();
}
