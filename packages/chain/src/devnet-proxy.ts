import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A proxy before a development chain: its address stays the same while the chain behind it is started again. */
export interface DevnetProxy {
  readonly port: number;
  /** The port of the chain; null while there is none, and requests are refused. */
  chainPort: number | null;
  close(): void;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

/** Matches methods that change the chain, even without a block. A transaction may get into its block later. */
const WRITES = /"method"\s*:\s*"(?:eth_send|evm_|anvil_|hardhat_)/;

/**
 * Opens the proxy on a loopback port. It answers only after `save`, so that nobody is told of a block that the
 * end of the chain could take away.
 * @param port 0 for any free one
 * @param save saves the chain if it has a new block, and in any case when it has `changed`
 */
export async function openDevnetProxy(
  port: number,
  save: (chainPort: number, changed: boolean) => Promise<void>,
): Promise<DevnetProxy> {
  const agent = new Agent({ keepAlive: true });

  async function answer(body: Buffer, type: string): Promise<Answer> {
    const { chainPort } = proxy;
    if (chainPort === null) throw new Error('There is no chain.');
    const reply = await forward(agent, chainPort, body, type);
    await save(chainPort, WRITES.test(body.toString('latin1')));
    return reply;
  }

  const server = createServer((incoming, response) => {
    buffer(incoming)
      .then((body) => answer(body, incoming.headers['content-type'] ?? ''))
      .then(
        ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
        () => response.destroy(),
      );
  });
  await listening(server, port);
  const proxy: DevnetProxy = {
    port: (server.address() as AddressInfo).port,
    chainPort: null,
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
  return proxy;
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
}

function forward(agent: Agent, port: number, body: Buffer, type: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': body.length };
    const call = request({ host: '127.0.0.1', port, method: 'POST', agent, headers }, (response) => {
      const { statusCode: status = 502, headers: reply } = response;
      const answered = (read: Buffer): Answer => ({
        status,
        type: reply['content-type'] ?? 'application/json',
        body: read,
      });
      resolve(buffer(response).then(answered));
    });
    call.once('error', reject);
    call.end(body);
  });
}
