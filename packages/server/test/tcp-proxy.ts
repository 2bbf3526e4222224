import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What becomes of a new connection: `swallow` takes it and forwards nothing. */
type Fate = 'forward' | 'swallow' | 'refuse';

/** Stands between a client and a server, and can cut the one off from the other without a word. */
export interface TcpProxy {
  readonly port: number;
  /** What becomes of new connections; at first they are forwarded. */
  fate: Fate;
  /** Forwards nothing more on the connections that are open now, in neither direction, and closes none of them. */
  blackHole(): void;
  /** Closes the connections that are open now. */
  cut(): void;
  stop(): Promise<void>;
}

/** @param target the port on loopback that is forwarded to */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (proxy.fate === 'refuse') return void client.resetAndDestroy();
    if (proxy.fate === 'swallow') return void client.pause();
    const upstream = track(connect(target, '127.0.0.1'));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.pipe(to);
      // An end that comes once nothing is forwarded any more is not forwarded either.
      from.on('close', () => from.isPaused() || to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    fate: 'forward',
    blackHole() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      proxy.cut();
      await closed;
    },
  };
  return proxy;
}
