/**
 * Runs `work` every `ms`, never twice at once, and lets the process end in between. `work` must not reject. The
 * returned function stops it and resolves when a run under way has ended.
 */
export function repeat(ms: number, work: () => Promise<void>): () => Promise<void> {
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
