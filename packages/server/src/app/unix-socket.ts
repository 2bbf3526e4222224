import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
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
    // The system also refuses a connection to a file that is no socket.
    if (codeOf(error) !== 'EADDRINUSE' || !lstatSync(path).isSocket() || !(await refuses(path))) throw error;
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

/** Whether nobody listens on a socket file. */
function refuses(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once('connect', () => resolve(false));
  socket.once('error', (error) => resolve(codeOf(error) === 'ECONNREFUSED'));
  return promise.finally(() => socket.destroy());
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
