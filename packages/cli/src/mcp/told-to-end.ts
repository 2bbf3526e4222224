/** The signals that tell a process to end. */
export const ENDING_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Resolves when this process is told to end, which does not end it; the same signal once more does. */
export function toldToEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ENDING_SIGNALS) process.once(signal, () => resolve());
  });
}

/** Does some work before this process ends, also where it is told to end meanwhile; the same signal once more ends it. */
export async function beforeTheEnd<T>(work: () => Promise<T>): Promise<T> {
  const wait = (): void => {};
  for (const signal of ENDING_SIGNALS) process.once(signal, wait);
  try {
    return await work();
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, wait);
  }
}
