import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import type { OwnIssuer } from '../../issuers/own-issuer.ts';
import type { Registry } from '../../issuers/registry.ts';
import { repeat } from '../../log/repeat.ts';
import type { Store } from '../../store/store.ts';
import type { TransferRow } from '../../store/treasury-store.ts';
import type { Money } from '../chain/open.ts';
import { createDeliverer } from '../keys/deliver.ts';
import { createMailer } from '../keys/mail.ts';
import { createWebhook } from '../keys/webhook.ts';
import { createPayoutFollower } from '../payouts/follow.ts';
import { openPayoutChain } from '../payouts/wallet.ts';
import { createDecide } from './decide.ts';
import { createWatcher } from './watcher.ts';

/** What looks after the treasury while a server runs; each part can be stepped by itself. */
export interface TreasuryService {
  /** Reads the chain, and ends what has come in. */
  watch(): Promise<void>;
  /** Delivers what is due. */
  deliver(): Promise<void>;
  /** Follows the payouts that are signed. */
  follow(): Promise<void>;
  /** Stops the timers. */
  close(): Promise<void>;
}

export interface TreasuryOptions {
  readonly config: Config;
  readonly store: Store;
  readonly issuer: OwnIssuer;
  readonly registry: Registry;
  readonly money: Money;
  /** See `WatcherOptions.ownerOf`. */
  readonly ownerOf: (transfer: TransferRow) => Promise<'x402' | 'wait' | null>;
  readonly clock: () => number;
  readonly logger: Logger;
}

const WATCH_MS = 2_000;
const DELIVER_MS = 2_000;
const FOLLOW_MS = 10_000;
const TIMEOUT_MS = 10_000;
const PATIENCE_SECONDS = 60;
/** How long the end waits for a delivery under way. */
const DRAIN_MS = 2_000;

/** Starts watching the treasury. */
export function openTreasury(options: TreasuryOptions): TreasuryService {
  const { config, store, issuer, registry, money, ownerOf, clock, logger } = options;
  const { token, treasury, rpcUrl, chainId } = money;
  const { prices, fromBlock, mail } = config.sales;
  const development = config.mode === 'development';
  let closing = false;
  const decide = createDecide({
    store,
    issuer,
    prices,
    deliverable: { development, mail: mail !== null },
    clock,
  });
  const watcher = createWatcher({ store, token, treasury, fromBlock, ownerOf, decide, clock, logger });
  const deliverer = createDeliverer({
    store,
    issuer,
    registry,
    sendLetter: mail && createMailer(mail),
    postToDomain: createWebhook({ issuer, development, clock }),
    readUntil: () => watcher.readUntil(),
    isClosing: () => closing,
    service: config.apiUrl,
    development,
    clock,
    logger,
  });
  const follower = createPayoutFollower({
    store,
    chain: openPayoutChain({ rpcUrl, chainId, confirmations: token.confirmations, timeoutMs: TIMEOUT_MS }),
    network: token.network,
    clock,
    logger,
    patience: PATIENCE_SECONDS,
  });
  const parts = {
    watch: inTurn(() => watcher.step()),
    deliver: inTurn(() => deliverer.step()),
    follow: inTurn(() => follower.step()),
  };
  const stopWatching = repeat(WATCH_MS, careful(parts.watch, 'watching the treasury', logger));
  const stopFollowing = repeat(FOLLOW_MS, careful(parts.follow, 'following payouts', logger));
  const stopDelivering = repeat(DELIVER_MS, careful(parts.deliver, 'delivering keys', logger));
  return {
    ...parts,
    async close() {
      closing = true;
      // A host that does not answer must not hold up the end: what is cut off is delivered again.
      const delivered = Promise.race([stopDelivering(), setTimeout(DRAIN_MS, undefined, { ref: false })]);
      await Promise.all([stopWatching(), stopFollowing(), delivered]);
    },
  };
}

/** One run after the other: a part is never at work twice in one process. */
function inTurn(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.catch(() => undefined).then(work);
    return last;
  };
}

/** Logs a failure once, however often it comes again. */
function careful(work: () => Promise<void>, what: string, logger: Logger): () => Promise<void> {
  let trouble: string | null = null;
  return async () => {
    try {
      await work();
      trouble = null;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== trouble) logger.warn({ err: error }, `${what} failed and will be retried`);
      trouble = message;
    }
  };
}
