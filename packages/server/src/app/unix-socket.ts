import { chmodSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';

/**
 * Listens on a Unix socket. A socket file that is there already is removed if nobody listens on it.
 * @param mode of the socket file, such as 0o660: who may write to it may connect
 * @throws Error with `code` EADDRINUSE where another process listens there, or where there is a file of another kind
 */
export async function bindSocket(server: Server, path: string, mode: number): Promise<void> {
  try {
    await bind(server, path, mode);
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE' || (await connects(path)) !== 'refused') throw error;
    unlinkSync(path);
    await bind(server, path, mode);
  }
}

function bind(server: Server, path: string, mode: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // Between bind and chmod nobody may have more than the mode gives.
  const umask = process.umask(0o777 & ~mode);
  try {
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  } finally {
    process.umask(umask);
  }
  return promise.then(() => chmodSync(path, mode));
}

/** `refused` is what the system says of a socket file that nobody listens on. */
function connects(path: string): Promise<'yes' | 'refused' | 'no'> {
  const { promise, resolve } = Promise.withResolvers<'yes' | 'refused' | 'no'>();
  const socket = connect(path);
  socket.once('connect', () => resolve('yes'));
  socket.once('error', (error) => resolve(codeOf(error) === 'ECONNREFUSED' ? 'refused' : 'no'));
  return promise.finally(() => socket.destroy());
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
