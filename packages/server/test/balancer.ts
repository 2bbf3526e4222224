import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { freePort } from './free-port.ts';

/** Program of Caddy: with it, tests have `BALANCED` processes serve, and Caddy hands each request to the next one. */
export const { TALLY_TEST_BALANCER: BALANCER } = process.env;

/** Number of processes behind the balancer. */
export const BALANCED = 3;

export interface Balancer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Starts Caddy, which need not be able to reach the services yet.
 * @param program path of Caddy
 * @param sockets paths of the Unix sockets on which the services listen
 * @param folder where it may keep its state
 * @throws when it does not start
 */
export async function startBalancer(
  program: string,
  sockets: readonly string[],
  folder: string,
): Promise<Balancer> {
  const port = await freePort();
  const caddy = spawn(program, ['run', '--adapter', 'caddyfile', '--config', '-'], {
    env: { HOME: folder },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = Promise.all([once(caddy, 'close'), text(caddy.stderr)]);
  caddy.stdin.end(caddyfile(port, sockets));
  const url = `http://127.0.0.1:${port}`;
  const ask = () => fetch(url, { headers: { connection: 'close' } });
  const answers = vi.waitFor(ask, { timeout: 60_000, interval: 20 }).then(() => null);
  const failed = await Promise.race([answers, ended]);
  if (failed !== null) throw new Error(`${program} ended: ${failed[1]}`);
  return {
    url,
    async close() {
      caddy.kill('SIGKILL');
      await ended;
    },
  };
}

/** Each request goes to the next service. With `flush_interval -1`, Caddy would not tell the service that a client has gone. */
const caddyfile = (port: number, sockets: readonly string[]): string => `
{
	admin off
	auto_https off
	log {
		level ERROR
	}
}
http://:${port} {
	bind 127.0.0.1
	reverse_proxy ${sockets.map((path) => `unix/${path}`).join(' ')} {
		lb_policy round_robin
		trusted_proxies 127.0.0.0/8
		transport http {
			keepalive 30s
		}
	}
}
`;
