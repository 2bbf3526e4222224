import { type Config, openStore, readConfig, readKeyring, readPassphrase } from '@tallystick/server';

/** The configuration of the service on this machine, read as `tally serve` reads it. */
export function serviceConfig(): Config {
  return readConfig(process.env);
}

/** The service's keyring and the passphrase that it is written with. */
export async function serviceKeyring(config: Config) {
  const passphrase = readPassphrase(config.keyring);
  return { keyring: await readKeyring(config.keyring.path, passphrase), passphrase };
}

/** Opens the service's database for one piece of work. A server may be running on it. */
export async function withStore<T>(config: Config, work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>): Promise<T> {
  const store = await openStore(config);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
