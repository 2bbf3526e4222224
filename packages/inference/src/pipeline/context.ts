import type { BudgetNews } from '@tallystick/callers';
import type { LogStorms } from '@tallystick/kit';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { UpkeepTerms } from '../catalogue/upkeep.ts';
import type { KnownRatings } from '../experiments/known-ratings.ts';
import type { Experiments } from '../experiments/schema.ts';
import type { KeptItems } from '../kept-items.ts';
import type { Provider } from '../providers/provider.ts';
import type { Health } from '../resilience/health.ts';
import type { RetryPolicy } from '../resilience/retries.ts';
import type { Router } from '../router/router.ts';
import type { SharedPins } from '../router/sessions.ts';
import type { Compressor } from './compressor-interface.ts';
import type { SettleContext } from './settle.ts';

/** What is needed to serve calls. */
export interface PipelineContext extends SettleContext {
  readonly catalogue: Catalogue;
  readonly router: Router;
  /** Those of the router’s sessions. */
  readonly pins: SharedPins;
  /** What the operator tries out. */
  readonly experiments: Experiments;
  readonly ratings: KnownRatings;
  /** Providers by the name that the catalogue's models have. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly health: Health;
  /** What decides whether a model is past its date, or its price too old. */
  readonly upkeep: () => UpkeepTerms;
  readonly retryPolicy: RetryPolicy;
  /** Bounds what a provider that fails writes into the log. */
  readonly storms: LogStorms;
  readonly compressor: Compressor;
  readonly items: KeptItems;
  /** Tells callers' webhooks of budgets that are used up. */
  readonly budgets: Pick<BudgetNews, 'reached'>;
  /** Whether the development account pays for callers with too little. */
  readonly development: boolean;
  /** Whether unidentified callers may use free models. */
  readonly freeToAll: boolean;
  /** Output tokens of a choice if the caller sets no limit. */
  readonly defaultMaxOutput: number;
  /** Most bytes of payload in one stream, whatever was asked for. */
  readonly maxStreamBytes: number;
  /** The longest that a call may take, from its acceptance to its last byte, in milliseconds. */
  readonly maxCallMs: number;
  /** Aborts when the service stops: calls under way then end, and streams end early, with error event and receipt. */
  readonly stop: AbortSignal;
  /** Streams whose bill is not on disk yet. What they need must not be closed before they resolve. */
  readonly unbilled: Set<Promise<void>>;
}
