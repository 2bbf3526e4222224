/** Longest time that a page may work without a pause, in milliseconds: two frames at 60 Hz. */
const STRETCH = 32;

/**
 * Lets the browser draw and react during long work: call it often. It resolves to whether it paused this time. It uses
 * a message channel and not a timer, because browsers slow down the timers of pages in the background.
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
