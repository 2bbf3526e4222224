import { join } from 'node:path';
import { TallyError } from '@tallystick/core';
import type { Logger } from 'pino';
import { checkConfig } from '../config/config.ts';
import { KEY_PRICES } from '../config/sales.ts';
import type { Services } from '../services.ts';
import { openControl, type ReloadResult } from './control.ts';

type Reloaded = Pick<Services, 'config' | 'logger' | 'reload'>;

/** Reads the configuration again on SIGHUP, and when `tally reload` asks for it. */
export class Reloading {
  readonly #env: NodeJS.ProcessEnv;
  readonly #atStart: ReadonlyMap<string, string | null>;
  #services: Reloaded | null = null;
  /** Ends after the last reload that was asked for. */
  #last: Promise<unknown> = Promise.resolve();
  #stopControl = (): void => {};

  /** From here on SIGHUP no longer ends the process. Until `start` it does nothing. */
  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
    this.#atStart = new Map(checkConfig(env).settings.map(({ name, given }) => [name, given]));
    process.on('SIGHUP', this.#onSignal);
  }

  /** @param services what reloads from now on */
  async start(services: Reloaded): Promise<void> {
    this.#services = services;
    const { config, logger } = services;
    try {
      this.#stopControl = await openControl(controlFolder(config), () => this.#reload());
    } catch (error) {
      const { message } = error as Error;
      logger.info({ error: message }, 'tally reload does not reach this process; SIGHUP does');
    }
  }

  stop(): void {
    process.off('SIGHUP', this.#onSignal);
    this.#stopControl();
  }

  readonly #onSignal = (): void => void this.#reload();

  /** One at a time, and never rejects. */
  #reload(): Promise<ReloadResult> {
    const services = this.#services;
    if (services === null) return Promise.resolve({ faults: ['The service is starting.'], restart: [] });
    const result = this.#last.then(() => reloadNow(services, this.#env, this.#atStart));
    this.#last = result;
    return result;
  }
}

/** Folder of the sockets by which `tally reload` finds the processes of a data directory. */
export function controlFolder({ dataDir }: Services['config']): string {
  return join(dataDir, 'control');
}

async function reloadNow(
  { logger, reload }: Reloaded,
  env: NodeJS.ProcessEnv,
  atStart: ReadonlyMap<string, string | null>,
): Promise<ReloadResult> {
  const { config, settings, faults } = checkConfig(env);
  const refused = faults.length > 0 ? faults : await tryReload(() => reload(config), logger);
  if (refused.length > 0) {
    logger.error({ faults: refused }, 'the new configuration is refused; the one from before stays in use');
    return { faults: refused, restart: [] };
  }
  const restart = settings
    .filter(
      ({ name, given, secret }) =>
        !secret &&
        !KEY_PRICES.includes(name) &&
        !Object.hasOwn(config.compute.environment, name) &&
        given !== (atStart.get(name) ?? null),
    )
    .map(({ name }) => name);
  logger.info({ restart }, 'the configuration was read again');
  return { faults: [], restart };
}

async function tryReload(reload: () => Promise<void>, logger: Logger): Promise<readonly string[]> {
  try {
    await reload();
    return [];
  } catch (error) {
    if (error instanceof TallyError) return [error.message];
    logger.error({ err: error }, 'reloading failed');
    return ['The keyring or the database could not be read; the log of the process says more.'];
  }
}
