import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The first port that may be chosen, and the one after the last. Systems give higher ports to outgoing connections, and such a
 * connection could take a port before the program listens on it.
 */
const PORTS = [15_000, 32_000] as const;

/** Finds a port of 127.0.0.1 on which nothing listens, for programs that can't be told to choose one themselves (port 0). */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
