import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { freePort } from '../../packages/server/test/free-port.ts';
import { type Served, serve, temporaryFolder } from '../process.ts';

const CADDYFILE = fileURLToPath(new URL('../../deploy/compose/Caddyfile', import.meta.url));

let services: Served[] = [];
let caddy: ChildProcess;
let url = '';

const status = (path: string): Promise<number> =>
  fetch(`${url}${path}`).then(
    (response) => response.status,
    () => 0,
  );

/** Which of the services answered: each has an issuer of its own. */
async function answeredBy(headers: Record<string, string> = {}): Promise<string> {
  return (await fetch(`${url}/.well-known/did.json`, { headers })).text();
}

beforeAll(async () => {
  services = await Promise.all(
    [1, 2].map(() => serve({ TALLY_DATA_DIR: temporaryFolder(), TALLY_DEVNET: 'off' })),
  );
  // Without a name that a certificate could be for, Caddy speaks HTTP.
  url = `http://127.0.0.1:${await freePort()}`;
  caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', CADDYFILE], {
    env: {
      PATH: process.env.PATH,
      HOME: temporaryFolder(),
      TALLYSTICK_DOMAINS: url,
      TALLYSTICK_UPSTREAMS: services.map((service) => new URL(service.url).host).join(' '),
    },
    stdio: 'ignore',
  });
  const answers = async (): Promise<void> => expect(await status('/healthz')).toBe(200);
  await vi.waitFor(answers, { timeout: 60_000, interval: 50 });
});
afterAll(async () => {
  caddy.kill('SIGKILL');
  await Promise.all(services.map((service) => service.kill('SIGTERM')));
});

it('passes requests on to both processes, those of a session of MCP too', async () => {
  const requests = Array.from({ length: 40 });
  expect(new Set(await Promise.all(requests.map(() => answeredBy()))).size).toBe(2);
  const session = { 'mcp-session-id': 'b0e4' };
  expect(new Set(await Promise.all(requests.map(() => answeredBy(session)))).size).toBe(2);
});

it('asks browsers for TLS, and shows nobody how busy the service is', async () => {
  const response = await fetch(`${url}/healthz`);
  expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000');
  expect(await Promise.all(['/metrics', '/readyz'].map(status))).toEqual([404, 404]);
});

it('serves on while one process ends', async () => {
  const gone = new AbortController();
  const end = async (): Promise<void> => {
    await services[0]?.kill('SIGTERM');
    gone.abort();
  };
  const ended = end();
  const seen = new Set<number>();
  while (!gone.signal.aborted) seen.add(await status('/healthz'));
  await ended;
  for (let i = 0; i < 20; i++) seen.add(await status('/healthz'));
  expect([...seen]).toEqual([200]);
});
