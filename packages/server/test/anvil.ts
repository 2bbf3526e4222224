import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { anvilPath } from '../../chain/src/anvil.ts';

/** A real Anvil on a free loopback port, with no accounts of its own. It mines a block for each transaction. */
export interface TestAnvil {
  readonly rpcUrl: string;
  /** One JSON-RPC call; rejects with the node's error message. */
  rpc(method: string, ...params: readonly unknown[]): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startAnvil(chainId = 31_337): Promise<TestAnvil> {
  const args = ['--host', '127.0.0.1', '--port', '0', '--accounts', '0', '--chain-id', String(chainId)];
  const child = spawn(anvilPath(), args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = once(child, 'close');
  const rpcUrl = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('Listening on ')) resolve(`http://${line.slice('Listening on '.length)}`);
    });
    child.once('close', () => reject(new Error('Anvil did not start.')));
  });
  return {
    rpcUrl,
    rpc: (method, ...params) => callRpc(rpcUrl, method, params),
    async stop() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

export async function callRpc(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error !== undefined) throw new Error(error.message);
  return result;
}
