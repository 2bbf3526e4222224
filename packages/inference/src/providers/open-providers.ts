import { isDeepStrictEqual } from 'node:util';
import type { ProviderEntry } from '../catalogue/open.ts';
import { LOCAL } from '../catalogue/open.ts';
import { openLocalProvider } from '../local/local.ts';
import type { ComputeConfig } from '../settings.ts';
import { openProvider } from './open.ts';
import type { Provider } from './provider.ts';

type Entry = ProviderEntry & Pick<ComputeConfig, 'aws'>;

interface Opened {
  readonly entry: Entry;
  readonly provider: Provider;
}

/** The connections to providers. They outlive a change of the catalogue as long as a call may use them. */
export class OpenProviders {
  readonly #timeouts: ComputeConfig['timeouts'];
  readonly #maxCallMs: number;
  readonly #local = openLocalProvider();
  #opened: readonly Opened[] = [];
  /** Providers that no new call uses, each with the timer that closes it. */
  readonly #leaving = new Map<Provider, NodeJS.Timeout>();

  /** @param maxCallMs the longest that a call may take, in milliseconds */
  constructor(timeouts: ComputeConfig['timeouts'], maxCallMs: number) {
    this.#timeouts = timeouts;
    this.#maxCallMs = maxCallMs;
  }

  /**
   * Opens what is new and keeps what is as it was. What is no longer listed is closed once every call that began before
   * this has ended. Returns the providers by name, the built-in one among them.
   * @param aws what requests to AWS are signed with
   */
  replace(entries: readonly ProviderEntry[], aws: ComputeConfig['aws']): ReadonlyMap<string, Provider> {
    const before = this.#opened;
    this.#opened = entries
      .map((entry): Entry => ({ ...entry, aws }))
      .map(
        (entry) =>
          before.find((one) => isDeepStrictEqual(one.entry, entry)) ?? {
            entry,
            provider: openProvider(entry.kind, { ...entry, timeouts: this.#timeouts }),
          },
      );
    for (const one of before) if (!this.#opened.includes(one)) this.#closeLater(one.provider);
    return new Map([
      [LOCAL, this.#local],
      ...this.#opened.map((one) => [one.entry.name, one.provider] as const),
    ]);
  }

  async close(): Promise<void> {
    for (const timer of this.#leaving.values()) clearTimeout(timer);
    const all = [this.#local, ...this.#opened.map(({ provider }) => provider), ...this.#leaving.keys()];
    await Promise.all(all.map((provider) => provider.close()));
  }

  #closeLater(provider: Provider): void {
    const close = (): void => {
      this.#leaving.delete(provider);
      void provider.close();
    };
    this.#leaving.set(provider, setTimeout(close, this.#maxCallMs).unref());
  }
}
