import { setTimeout } from 'node:timers/promises';
import type { ApiKeyStore } from '@tallystick/callers';
import type { Money } from '@tallystick/chain/evm';
import type { OwnIssuer, Registry } from '@tallystick/issuers';
import { createBackground } from '@tallystick/kit';
import type { LedgerStore } from '@tallystick/ledger';
import type { Logger } from 'pino';
import { createDeliverer } from '../keys/deliver.ts';
import { createMailer } from '../keys/mail.ts';
import type { TierPrices } from '../keys/prices.ts';
import { createWebhook } from '../keys/webhook.ts';
import { createPayoutFollower } from '../payouts/follow.ts';
import { openPayoutChain } from '../payouts/wallet.ts';
import type { TreasurySettings } from '../settings.ts';
import type { TransferRow, TreasuryStore } from '../treasury-store.ts';
import { createDecide } from './decide.ts';
import { createWatcher } from './watcher.ts';

/** The work on the treasury while a server runs. Each part can also be run once by itself. */
export interface TreasuryService {
  /** Reads the chain, and ends the transfers that have come in. */
  watch(): Promise<void>;
  /** Delivers the orders that are due. */
  deliver(): Promise<void>;
  /** Follows the payouts that are signed. */
  follow(): Promise<void>;
  /** Stops the timers. */
  close(): Promise<void>;
}

export interface TreasuryOptions {
  readonly config: Pick<TreasurySettings, 'mode' | 'apiUrl' | 'sales'>;
  readonly store: {
    readonly treasury: TreasuryStore;
    readonly ledger: LedgerStore;
    readonly apiKeys: ApiKeyStore;
  };
  readonly issuer: OwnIssuer;
  readonly registry: Registry;
  readonly money: Money;
  /** What keys cost now. */
  readonly prices: () => TierPrices;
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
/** Milliseconds for which closing waits for a delivery under way. */
const DRAIN_MS = 2_000;

/** Starts watching the treasury. */
export function openTreasury(options: TreasuryOptions): TreasuryService {
  const { config, store, issuer, registry, money, prices, ownerOf, clock, logger } = options;
  const { token, treasury, rpcUrl, chainId } = money;
  const { fromBlock, mail } = config.sales;
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
    watch: withoutOverlap(() => watcher.step()),
    deliver: withoutOverlap(() => deliverer.step()),
    follow: withoutOverlap(() => follower.step()),
  };
  const background = createBackground(logger);
  const stopWatching = background.every(WATCH_MS, 'watching the treasury', parts.watch);
  const stopFollowing = background.every(FOLLOW_MS, 'following payouts', parts.follow);
  const stopDelivering = background.every(DELIVER_MS, 'delivering keys', parts.deliver);
  return {
    ...parts,
    async close() {
      closing = true;
      // A host that does not answer must not delay closing: an interrupted delivery is repeated.
      const delivered = Promise.race([stopDelivering(), setTimeout(DRAIN_MS, undefined, { ref: false })]);
      await Promise.all([stopWatching(), stopFollowing(), delivered]);
    },
  };
}

/** Runs one call after the other, so that a part never runs twice at once in one process. */
function withoutOverlap(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.catch(() => undefined).then(work);
    return last;
  };
}
