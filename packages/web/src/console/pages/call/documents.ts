import type { Call } from '../activity/documents.ts';

/** A part of a call's time, in milliseconds from its acceptance; absent in rows from before it was recorded. */
interface Span {
  readonly at_ms?: number;
  readonly ms?: number;
}

/** `GET /v1/compute/calls/{id}`. */
export interface CallDetail extends Call {
  readonly timeline: readonly TimelineStep[];
  readonly tries: readonly FailedTry[];
  readonly answered?: (Span & { readonly model: string; readonly provider: string }) | null;
  readonly routing: Routing | null;
  readonly billing: Billing | null;
  readonly compression: Compression | null;
  /** Whether prompt and answer are kept, encrypted, for their caller. */
  readonly content_kept?: boolean;
}

export interface TimelineStep {
  readonly step: 'compress' | 'route' | 'reserve' | 'tries' | 'first_byte' | 'settle';
  readonly at_ms: number;
  readonly ms: number;
}

export interface FailedTry extends Span {
  readonly model: string;
  readonly kind: string;
  readonly status: number | null;
}

/** What the router decided, and from what (spec/compute.md). Amounts are nano-USDC in decimal digits. */
export interface Routing {
  readonly version: 1;
  readonly inputs: RoutingInputs;
  readonly outcome: RoutingOutcome;
}

export interface RoutingInputs {
  readonly requested: string;
  readonly prompt_tokens: number;
  readonly max_output_tokens: number;
  readonly cost_quality: number;
  readonly needs: readonly string[];
  readonly strategy?: {
    readonly sort: string;
    readonly budget?: { readonly per_day: string; readonly spent: string };
  };
  readonly pinned: string | null;
  readonly domain: string;
  readonly comparison?: { readonly name: string; readonly arm: 'a' | 'b' };
  readonly bandit?: object;
  readonly candidates: readonly { readonly model: string; readonly provider: string }[];
  readonly unaffordable: readonly string[];
}

interface RoutingOutcome {
  readonly model: string;
  readonly fallbacks: readonly string[];
  readonly why: string;
  readonly best_single: string | null;
  readonly difficulty: { readonly weak: number; readonly gain: number; readonly basis?: string } | null;
  readonly scores: readonly Score[];
}

export interface Score {
  readonly model: string;
  readonly excluded: string | null;
  readonly quality: number | null;
  readonly expected_cost: string | null;
  readonly score: number | null;
}

interface Amount {
  readonly usdc: string;
  readonly nano: string;
}

export interface TokenCounts {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly cache_write_long_tokens: number;
}

export interface TokenPrices {
  readonly input: Amount;
  readonly output: Amount;
  readonly cache_read: Amount;
  readonly cache_write: Amount;
  readonly cache_write_long: Amount;
}

/** `svc.billing` of an answer. */
export interface Billing {
  readonly account: string;
  readonly charge: Amount;
  readonly provider_cost: Amount;
  readonly saving: Amount;
  readonly share: Amount & { readonly percent: number; readonly tier: string };
  readonly reserved: Amount;
  readonly usage: TokenCounts & { readonly counted_by: string };
  readonly price_per_million_tokens: TokenPrices;
  /** Only where the calls to the provider had several tariffs. */
  readonly calls?: readonly {
    readonly usage: TokenCounts;
    readonly price_per_million_tokens: TokenPrices;
  }[];
}

/** `svc.compression` of an answer. */
export interface Compression {
  readonly tier?: string;
  readonly tokens_before?: number | null;
  readonly tokens_after?: number | null;
  readonly methods?: Readonly<Record<string, number>>;
  readonly removed?: readonly {
    readonly id: string;
    readonly removed: number;
    readonly of: number;
    readonly unit: string;
    readonly tokens: number;
  }[];
  readonly note?: string;
  /** Of a call for embeddings. */
  readonly reason?: string;
}

/** `GET /v1/compute/calls/{id}/content`. */
export interface KeptContent {
  readonly kept_until: string;
  /** The body as the caller sent it, as it was sent to the provider, and the answer without `svc`. */
  readonly request: unknown;
  readonly sent: unknown;
  readonly answer: unknown;
}
