import { VERSION } from '@tallystick/core';
import {
  type Background,
  createBackground,
  createGuardedFetch,
  guardPolicy,
  type Resolve,
} from '@tallystick/kit';
import { createWebhookDeliverer, type DelivererDependencies } from './deliver.ts';
import { createWebhookWatch, type WatchDependencies } from './watch.ts';

export interface WebhookDependencies
  extends WatchDependencies,
    Pick<DelivererDependencies, 'issuer' | 'clock'> {
  readonly store: WatchDependencies['store'];
  readonly mode: 'development' | 'production';
  readonly logger: Parameters<typeof createBackground>[0];
  readonly resolve?: Resolve;
}

/** Milliseconds for one attempt. */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
const DELIVER_MS = 1_000;
const WATCH_MS = 5_000;
const PURGE_MS = 3_600_000;
/** Deliveries are listed for 30 days. */
const KEPT_MS = 30 * 24 * 3_600_000;
const PURGE_LIMIT = 1_000;

/** The sending of webhooks, in the background of a process. */
export interface WebhookService {
  /** Looks for events that nobody announces, then sends what is due. */
  step(): Promise<void>;
  /** Begins no other attempt; resolves when those under way have ended. */
  close(): Promise<void>;
}

/** Starts it. A URL is called as any that a stranger names: public addresses by HTTPS, without following redirects. */
export function openWebhooks(dependencies: WebhookDependencies): WebhookService {
  const { store, mode, clock, logger, resolve } = dependencies;
  let closing = false;
  const deliverer = createWebhookDeliverer({
    ...dependencies,
    fetch: createGuardedFetch({
      policy: guardPolicy({ mode }),
      limits: { totalMs: TIMEOUT_MS, headMs: TIMEOUT_MS, bodyBytes: MAX_ANSWER_BYTES },
      ...(resolve && { resolve }),
    }),
    agent: `Tallystick/${VERSION}`,
    isClosing: () => closing,
  });
  const watch = createWebhookWatch(dependencies);
  const background: Background = createBackground(logger);
  background.every(DELIVER_MS, 'sending webhooks', async () => deliverer.begin());
  background.every(WATCH_MS, 'looking for events of webhooks', () => watch.step());
  background.every(PURGE_MS, 'deleting old deliveries of webhooks', async () => {
    while ((await store.webhooks.purge(clock() - KEPT_MS, PURGE_LIMIT)) === PURGE_LIMIT);
  });
  return {
    async step() {
      await watch.step();
      // What is being sent may have been taken before something became due for the same webhook.
      await deliverer.ended();
      deliverer.begin();
      await deliverer.ended();
    },
    async close() {
      closing = true;
      await background.close();
      await deliverer.ended();
    },
  };
}
