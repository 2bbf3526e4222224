import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Provider } from '../providers/provider.ts';
import type { Health } from '../resilience/health.ts';
import type { RetryPolicy } from '../resilience/retries.ts';
import type { Router } from '../router/router.ts';
import type { Compressor } from './compressor-interface.ts';
import type { SettleContext } from './settle.ts';

/** What calls are served with. */
export interface PipelineContext extends SettleContext {
  readonly catalogue: Catalogue;
  readonly router: Router;
  /** By the name that the catalogue's models give. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly health: Health;
  readonly retryPolicy: RetryPolicy;
  readonly compressor: Compressor;
  /** Whether the development account pays for who has too little. */
  readonly development: boolean;
  /** Whether models that cost nothing answer to whoever does not say who it is. */
  readonly freeToAll: boolean;
  /** Output tokens of a choice where the caller sets no limit. */
  readonly defaultMaxOutput: number;
  /** Most bytes of payload in one stream, whatever was asked for. */
  readonly maxStreamBytes: number;
  /** The longest that a call may take, from its acceptance to its last byte, in milliseconds. */
  readonly maxCallMs: number;
  /** Aborts when the service stops: calls under way end then, and streams end as cut, with error event and receipt. */
  readonly stop: AbortSignal;
  /** Streams whose bill is not on disk yet: what must not be closed under them waits for these. */
  readonly unbilled: Set<Promise<void>>;
}
