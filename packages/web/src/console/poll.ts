import { useEffect, useRef } from 'preact/hooks';
import type { ApiProblem } from './api.ts';
import { identity } from './identity/identity.ts';
import { problemOf, useLoad } from './load.ts';

/** What is read again and again. */
interface Polled<T> {
  /** What was read last; null before the first answer. It stays while the service can't be read. */
  readonly value: T | null;
  /** Why it can't be read now. */
  readonly problem: ApiProblem | null;
  readonly reload: () => void;
}

/** Reads a value at once, every `everyMs` milliseconds while the page is seen, and when it is seen again. */
export function usePolling<T>(
  key: string | null,
  everyMs: number,
  load: (signal: AbortSignal) => Promise<T>,
): Polled<T> {
  const who = identity.value;
  const last = useRef<{ readonly who: typeof who; readonly key: typeof key; readonly value: T } | null>(null);
  const loading = useLoad(key, async (signal) => {
    try {
      const value = await load(signal);
      last.current = { who, key, value };
      return { value, problem: null };
    } catch (error) {
      if (signal.aborted) throw error;
      const held = last.current;
      const value = held !== null && held.who === who && held.key === key ? held.value : null;
      return { value, problem: problemOf(error) };
    }
  });
  const current = useRef(loading);
  current.current = loading;
  useEffect(() => {
    const again = (): void => {
      if (!document.hidden && !current.current.busy) current.current.reload();
    };
    const timer = setInterval(again, everyMs);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [everyMs]);
  const { value = null, problem = null } = loading.value ?? {};
  return { value, problem, reload: loading.reload };
}
