import { createApp } from './app.ts';
import { type Config, localOrigin, readConfig, withAddress } from './config.ts';
import { listen } from './listen.ts';
import { openServices } from './services.ts';

/**
 * Runs the service as its environment says, until SIGTERM or SIGINT. Prints what a newcomer must know, and one
 * line with the URL when it is ready.
 * @throws ConfigError, ListenError, TallyError: each with one message for a human
 */
export async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  let at = config;
  const { closed } = await listen({
    host: config.host,
    port: config.port,
    open: async (address) => {
      at = withAddress(config, address);
      const services = await openServices(at);
      return { fetch: createApp(services).fetch, close: services.close };
    },
  });
  process.stdout.write(`${banner(at)}\ntallystick is ready on ${localOrigin(at.host, at.port)}\n`);
  await closed;
}

function banner({ mode, dataDir, freeMintPerDay, receiptsUrl }: Config): string {
  const quota =
    freeMintPerDay === 0 ? 'no limit on free mints' : `${freeMintPerDay} free mints a day and client`;
  if (mode === 'production') return `tallystick · production mode: public address ${receiptsUrl}, ${quota}`;
  return `tallystick · development mode: generated keys in ${dataDir}, ${quota}, no payment asked`;
}
