import { createApp } from './app.ts';
import type { Chain } from './chain/chain.ts';
import { type Config, localOrigin, readConfig, withAddress } from './config.ts';
import { listen } from './listen.ts';
import type { Money } from './payments/chain/open.ts';
import { openServices, type Services } from './services.ts';

/**
 * Runs the service as its environment says, until SIGTERM or SIGINT. Prints what a newcomer must know, and one
 * line with the URL when it is ready.
 * @throws ConfigError, ListenError, TallyError: each with one message for a human
 */
export async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  let at = config;
  let notice = '';
  const { closed } = await listen({
    host: config.host,
    port: config.port,
    open: async (address) => {
      at = withAddress(config, address);
      const services = await openServices(at);
      notice = banner(services);
      const { fetch } = createApp(services);
      services.status.start();
      return { fetch, close: services.close };
    },
  });
  process.stdout.write(`${notice}\ntallystick is ready on ${localOrigin(at.host, at.port)}\n`);
  await closed;
}

function banner({ config, log, chain, money }: Services): string {
  const { mode, dataDir, freeMintPerDay, receiptsUrl } = config;
  const quota =
    freeMintPerDay === 0 ? 'no limit on free mints' : `${freeMintPerDay} free mints a day and client`;
  const first =
    mode === 'production'
      ? `tallystick · production mode: public address ${receiptsUrl}, ${quota}`
      : `tallystick · development mode: generated keys in ${dataDir}, ${quota}${money === null ? ', no payment asked' : ''}`;
  return [first, anchoring(config, log.origin, chain), ...paying(money)].join('\n');
}

function anchoring({ log, chain: { devnet } }: Config, origin: string, chain: Chain | null): string {
  if (chain === null) return `anchor log ${origin}: no chain, so hashes are accepted and stay pending`;
  const where = devnet ? 'a development chain of its own' : chain.network;
  return `anchor log ${origin}: posts every ${log.periodSeconds} s to ${where} (chain ${chain.chainId}) from ${chain.address}`;
}

function paying(money: Money | null): readonly string[] {
  if (money === null) return [];
  const { token, treasury, dev } = money;
  const where = `payments: x402 on ${token.network}, in USDC ${token.usdc}, to ${treasury}`;
  if (dev === null) return [where];
  const { alice, bob } = dev.accounts;
  const warning = 'test money: everyone knows the keys of these wallets, so send nothing of worth there';
  return [where, `${warning} (tally dev wallets): alice ${alice}, bob ${bob}`];
}
