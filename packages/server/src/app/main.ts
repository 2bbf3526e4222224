import { write } from 'node:fs';
import { type Chain, INSTALL_ANVIL, isAnvilInstalled } from '@tallystick/chain';
import type { Money } from '@tallystick/chain/evm';
import { type Config, localOrigin, readConfig, socketPathOf, withAddress } from '../config/config.ts';
import { ANTHROPIC, OPENAI } from '../http/dialect.ts';
import type { Services } from '../services.ts';
import { createApp } from './app.ts';
import { listen } from './listen.ts';
import { Reloading } from './reloading.ts';
import { openServices } from './services.ts';
import type { PrimaryLink } from './workers/link.ts';
import type { WorkerStart } from './workers/messages.ts';
import { shrinkOnceStarted } from './young-generation.ts';

/** Metric labels of requests that are refused before a route is known. */
const REFUSED = { method: '(any)', route: '(refused)' };

/**
 * Runs the service as its environment says, until SIGTERM or SIGINT; SIGHUP reloads. Prints what a new user must
 * know, and one line with the URL when it is ready.
 * @throws ConfigError, ListenError, TallyError: each with one message for the operator
 */
export async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  // Who installed the packages and nothing else has no Anvil, and is not asked for it before the first receipt.
  const config = readConfig(isAnvilInstalled() ? env : { TALLY_DEVNET: 'off', ...env });
  if (config.workers === 1) return serveAlone(env, config, null);
  const { default: cluster } = await import('node:cluster');
  if (cluster.isPrimary) {
    const { leadWorkers } = await import('./workers/primary.ts');
    return leadWorkers(config, ({ notice, address }) => announceReady(notice, withAddress(config, address)));
  }
  const { PrimaryLink } = await import('./workers/link.ts');
  const link = new PrimaryLink();
  try {
    const worker = await link.started;
    await serveAlone(env, { ...config, listenFd: worker.listenFd }, { link, ...worker });
  } finally {
    link.close();
  }
}

/** @param worker what the primary said, if this process is one of its workers */
async function serveAlone(
  env: NodeJS.ProcessEnv,
  config: Config,
  worker: (WorkerStart & { readonly link: PrimaryLink }) | null,
): Promise<void> {
  let at = config;
  let notice = '';
  const reloading = new Reloading(env);
  const { closed } = await listen({
    host: config.host,
    port: config.port,
    socketMode: config.socketMode,
    fd: config.listenFd,
    ...config.http,
    dialects: [OPENAI, ANTHROPIC],
    // The server itself must end a request whose body is never read, after the longest time that a reader would wait.
    requestMs: config.http.bodies.streamMs + config.http.bodies.stallMs,
    joins: worker?.joins ?? null,
    ended: worker?.link.ended,
    // A supervisor may signal all processes, besides the primary, which tells its workers when to end.
    impatient: worker === null,
    receiptsUrl: (address) => withAddress(config, address).receiptsUrl,
    open: async (address) => {
      at = withAddress(config, address);
      const rpcUrl = (await worker?.link.opening()) ?? at.chain.rpcUrl;
      const services = await openServices({ ...at, chain: { ...at.chain, rpcUrl } }, Date.now, worker);
      notice = banner(services);
      const { fetch } = createApp(services, { exposition: worker && (() => worker.link.metrics()) });
      services.status.start();
      await reloading.start(services);
      await worker?.link.ready(address, notice, {
        registry: services.metrics.registry,
        measure: services.measure,
      });
      return {
        fetch,
        counted: (status) => services.metrics.observe(REFUSED, status, 0),
        leave: () => services.tails.end(),
        cut: services.endCalls,
        close: () => {
          reloading.stop();
          return services.close();
        },
      };
    },
  });
  if (worker === null) announceReady(notice, at);
  shrinkOnceStarted();
  try {
    await closed;
  } finally {
    // Whatever was skipped while closing, such as a connection that nobody answers, would keep the process alive for
    // ever.
    setTimeout(() => process.exit(), LAST_MS).unref();
  }
}

function announceReady(notice: string, { host, port }: Config): void {
  const where = socketPathOf(host) === null ? localOrigin(host, port) : host;
  announce(`${notice}\ntallystick is ready on ${where}\n`);
}

/** Milliseconds for a process whose service is closed to end by itself. */
const LAST_MS = 1_000;

/** Prints text. A service continues even if nothing can be written to its standard output, as with a full disk. */
function announce(text: string): void {
  write(1, text, () => {});
}

function banner({ config, log, chain, money }: Services): string {
  const { mode, dataDir, freeMintPerDay, receiptsUrl } = config;
  const quota =
    freeMintPerDay === 0 ? 'no limit on free mints' : `${freeMintPerDay} free mints per client and day`;
  const first =
    mode === 'production'
      ? `tallystick · production mode: public address ${receiptsUrl}, ${quota}`
      : `tallystick · development mode: generated keys in ${dataDir}, ${quota}${money === null ? ', no payment asked' : ''}`;
  const console =
    mode === 'production'
      ? []
      : [`operator page: ${receiptsUrl}/operator, with a key that tally operator-key create makes`];
  return [first, ...console, ...anchoring(config, log.origin, chain), ...paying(money)].join('\n');
}

function anchoring(
  { mode, log, chain: { devnet } }: Config,
  origin: string,
  chain: Chain | null,
): readonly string[] {
  if (chain === null) {
    const line = `anchor log ${origin}: no chain is configured, so hashes are accepted and stay pending`;
    if (mode === 'production' || isAnvilInstalled()) return [line];
    return [line, `for a development chain, stop the service, run ${INSTALL_ANVIL}, and start again`];
  }
  const where = devnet ? 'its own development chain' : chain.network;
  return [
    `anchor log ${origin}: posts every ${log.periodSeconds} s to ${where} (chain ${chain.chainId}) from ${chain.address}`,
  ];
}

function paying(money: Money | null): readonly string[] {
  if (money === null) return [];
  const { token, treasury, dev } = money;
  const where = `payments: x402 on ${token.network}, in USDC ${token.usdc}, to ${treasury}`;
  if (dev === null) return [where];
  const { alice, bob } = dev.accounts;
  const warning = 'test money: everyone knows the keys of these wallets, so send nothing of value there';
  return [where, `${warning} (tally dev wallets): alice ${alice}, bob ${bob}`];
}
