/**
 * Runs `work` every `ms`, never twice at once, without keeping the process alive. `work` must not reject. The returned
 * function stops it, and resolves when a run under way has ended.
 */
export function runEvery(ms: number, work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work().finally(() => {
      running = undefined;
    });
  }, ms);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Where failures of background work are logged. */
export interface FailureLog {
  warn(fields: { readonly err: unknown }, message: string): void;
}

/** Work that runs beside the requests. A repeated failure is logged when it begins, and every ten minutes while it lasts. */
export interface Background {
  /**
   * Runs `work` every `ms`, never twice at once. The returned function stops it, and resolves when a run under way has ended.
   * @param what names the work in the log: `watching the treasury`
   */
  every(ms: number, what: string, work: () => Promise<void>): () => Promise<void>;
  /** Runs `work` now. Never rejects. */
  once(what: string, work: () => Promise<void>): Promise<void>;
  /** Stops everything that `every` started, and resolves when what is under way has ended. */
  close(): Promise<void>;
}

export function createBackground(log: FailureLog): Background {
  const stops: (() => Promise<void>)[] = [];
  return {
    every(ms, what, work) {
      const stop = runEvery(ms, logged(log, what, work));
      stops.push(stop);
      return stop;
    },
    once: (what, work) => logged(log, what, work)(),
    async close() {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

const AGAIN_MS = 600_000;

function logged(log: FailureLog, what: string, work: () => Promise<void>): () => Promise<void> {
  let trouble: string | null = null;
  let loggedAt = 0;
  return async () => {
    try {
      await work();
      trouble = null;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const now = performance.now();
      if (message === trouble && now - loggedAt < AGAIN_MS) return;
      trouble = message;
      loggedAt = now;
      log.warn({ err: error }, `${what} failed and will be retried`);
    }
  };
}
