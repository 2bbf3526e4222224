/** Longest time that a page may work without a pause, in milliseconds: two frames. */
const STRETCH = 32;

/**
 * Lets a page draw and be used during long work: call it often. It resolves to whether it let go this time. A task of a
 * channel and no timer, since the timers of a page that nobody looks at are slowed down.
 */
export function createYielder(): () => Promise<boolean> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < STRETCH) return false;
    await new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel();
      const resume = (): void => {
        port1.close();
        resolve();
      };
      port1.addEventListener('message', resume, { once: true });
      port1.start();
      port2.postMessage(null);
    });
    since = performance.now();
    return true;
  };
}
