import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem } from './api.ts';
import { identity } from './identity/identity.ts';

/** What is being loaded: the last value stays while the next one is on its way. */
export interface Loading<T> {
  readonly value: T | null;
  readonly problem: ApiProblem | null;
  readonly busy: boolean;
  readonly reload: () => void;
}

/**
 * Loads a value, and again whenever `key` or who is signed in changes; what was on its way is aborted then. A null key
 * loads nothing. What one identity was shown is gone when another signs in.
 * @param key everything that the value depends on, as text
 */
export function useLoad<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loading<T> {
  const [state, setState] = useState<Omit<Loading<T>, 'reload'>>({
    value: null,
    problem: null,
    busy: key !== null,
  });
  const [turn, setTurn] = useState(0);
  const who = identity.value;
  const asked = useRef(who);
  useEffect(() => {
    if (key === null) return setState({ value: null, problem: null, busy: false });
    const aborter = new AbortController();
    const same = asked.current === who;
    asked.current = who;
    setState(({ value }) => ({ value: same ? value : null, problem: null, busy: true }));
    load(aborter.signal).then(
      (value) => !aborter.signal.aborted && setState({ value, problem: null, busy: false }),
      (error: unknown) => {
        if (!aborter.signal.aborted) setState({ value: null, problem: problemOf(error), busy: false });
      },
    );
    return () => aborter.abort();
  }, [key, turn, who]);
  return { ...state, reload: () => setTurn(turn + 1) };
}

/** What is shown of an error; a fault of the page itself goes to the console. */
export function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  reportError(error);
  return new ApiProblem(null, { title: 'This page failed', detail: String(error), code: 'page' }, null);
}
