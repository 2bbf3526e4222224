// Written by e2e/sdk-operations.test.ts from the OpenAPI document of the service; do not edit.
// After a change of the document: TALLY_WRITE_SDK_TYPES=1 npx vitest run e2e/sdk-operations.test.ts

import type { EnvelopeReceipt } from '../receipts/documents.ts';
/** An API key, without the key itself. */
export interface ApiKey {
  /** The id of an API key, which is no secret. */
  readonly id: string;
  /** Its name; null where it has none. */
  readonly name: string | null;
  /** When it was made. */
  readonly created_at: string;
  /** When a request last came with it, to within some seconds; null where none did. */
  readonly last_used_at: string | null;
  /** When it stops working; null for never. */
  readonly expires_at: string | null;
  /** When it was revoked; null where it was not. */
  readonly revoked_at: string | null;
  /** Whether it may make and change keys of the account. */
  readonly manages: boolean;
  /** Whether prompt and answer of its calls are kept where the operator allows it and the call does not say `svc.keep` itself. */
  readonly keep: boolean;
  readonly limits: Limits;
  /** What its calls were charged. */
  readonly spent: {
    /** What its calls of this UTC day were charged, in USDC. */
    readonly day_usdc: string;
    /** What its calls of this calendar month (UTC) were charged, in USDC. */
    readonly month_usdc: string;
  };
}
/** What is in an account. */
export interface Balance {
  /** The ledger account: `caller:` and the id of the API key or the DID; `development` where nobody is named. */
  readonly account: string;
  /** All amounts here are in USDC. */
  readonly asset: 'USDC';
  readonly balance: Money;
  /** Of it, what is put aside for calls under way. */
  readonly reserved: Money;
  /** What a call can spend. */
  readonly available: Money;
  /** Whether `available` is below `low_below`. */
  readonly low: boolean;
  /** Below this the balance is called low. */
  readonly low_below: Money;
}
/** The benchmark of compression, signed (spec/benchmark.md). */
export interface Benchmark {
  /** Always this. */
  readonly type: 'svc-benchmark-v1';
  /** Which of the four documents it is. */
  readonly node: 'benchmark' | 'semantic' | 'temporal' | 'modality';
  /** The version of the format. */
  readonly version: number;
  /** What was measured on. */
  readonly corpus: {
    /** The digest of the corpus. */
    readonly sha256: string;
    /** Number of its documents. */
    readonly documents: number;
    /** Number of its questions. */
    readonly cases: number;
    /** Number of its tokens. */
    readonly tokens: number;
  };
  /** The command that repeats it. */
  readonly command: string;
  /** What measured it. */
  readonly generated_with: {
    /** The package that was measured. */
    readonly package: string;
    /** Its version. */
    readonly version: string;
    /** The encoding that counted. */
    readonly tokenizer: string;
  };
  /** When it was signed. */
  readonly issued_at: string;
  /** The service. */
  readonly issuer_did: string;
  /** An Ed25519 public key: 32 bytes, base64url without padding. */
  readonly issuer_pubkey: string;
  /** The id of the benchmark key. */
  readonly key_id: string;
  /** An Ed25519 signature: 64 bytes, base64url without padding. */
  readonly sig_b64u: string;
  /** The other three documents in short, by name. */
  readonly nodes: {
    readonly [name: string]: {
      /** What was asked, in words. */
      readonly about: string;
      /** Each tier at each budget. */
      readonly tiers: readonly BenchmarkRow[];
      /** Tiers compared on the same questions. */
      readonly paired: readonly BenchmarkPaired[];
      /** The lossless tier, by kind of material. */
      readonly lossless?: readonly BenchmarkLossless[];
      /** Where the node is. */
      readonly url: string;
      readonly [name: string]: unknown;
    };
  };
  /** What others report of themselves. */
  readonly peers: readonly {
    /** Who reports. */
    readonly name: string;
    /** Where they report it. */
    readonly source: string;
    /** It was not measured here. */
    readonly quoted: true;
    readonly [name: string]: unknown;
  }[];
  readonly [name: string]: unknown;
}
/** What the lossless tier saves of one kind of material. */
export interface BenchmarkLossless {
  /** What it is a row of. */
  readonly kind: string;
  /** Number of documents. */
  readonly documents: number;
  /** Documents that decode to what they were. */
  readonly decoded_equal: number;
  /** Documents that nothing was changed of. */
  readonly identical: number;
  /** Share of the tokens that is saved, the median. */
  readonly saved_median: number;
  /** The same where least is saved. */
  readonly saved_worst: number;
  /** The same where most is saved. */
  readonly saved_best: number;
  readonly [name: string]: unknown;
}
/** A part of the benchmark in full, signed (spec/benchmark.md). */
export interface BenchmarkNode {
  /** Always this. */
  readonly type: 'svc-benchmark-v1';
  /** Which of the four documents it is. */
  readonly node: 'benchmark' | 'semantic' | 'temporal' | 'modality';
  /** The version of the format. */
  readonly version: number;
  /** What was measured on. */
  readonly corpus: {
    /** The digest of the corpus. */
    readonly sha256: string;
    /** Number of its documents. */
    readonly documents: number;
    /** Number of its questions. */
    readonly cases: number;
    /** Number of its tokens. */
    readonly tokens: number;
  };
  /** The command that repeats it. */
  readonly command: string;
  /** What measured it. */
  readonly generated_with: {
    /** The package that was measured. */
    readonly package: string;
    /** Its version. */
    readonly version: string;
    /** The encoding that counted. */
    readonly tokenizer: string;
  };
  /** When it was signed. */
  readonly issued_at: string;
  /** The service. */
  readonly issuer_did: string;
  /** An Ed25519 public key: 32 bytes, base64url without padding. */
  readonly issuer_pubkey: string;
  /** The id of the benchmark key. */
  readonly key_id: string;
  /** An Ed25519 signature: 64 bytes, base64url without padding. */
  readonly sig_b64u: string;
  /** What was asked, in words. */
  readonly about: string;
  /** Each tier at each budget. */
  readonly tiers: readonly BenchmarkRow[];
  /** Tiers compared on the same questions. */
  readonly paired: readonly BenchmarkPaired[];
  /** The lossless tier, by kind of material. */
  readonly lossless?: readonly BenchmarkLossless[];
  /** The rows by kind. */
  readonly by: readonly (BenchmarkRow & {
    /** What it is a row of. */
    readonly kind: string;
    readonly [name: string]: unknown;
  })[];
  /** The rows by how the question is worded. */
  readonly by_wording: readonly (BenchmarkRow & {
    /** What it is a row of. */
    readonly kind: string;
    readonly [name: string]: unknown;
  })[];
  /** Questions whose facts were lost. */
  readonly worst_cases: readonly {
    /** The id of the case. */
    readonly id: string;
    /** The question. */
    readonly question: string;
    /** The budget at which it failed. */
    readonly budget: number;
    readonly [name: string]: unknown;
  }[];
  readonly [name: string]: unknown;
}
/** Two tiers on the same questions: a minus b. */
export interface BenchmarkPaired {
  /** One tier. */
  readonly a: string;
  /** The other tier. */
  readonly b: string;
  /** Share of the tokens that may be left. */
  readonly budget: number;
  /** Number of questions. */
  readonly cases: number;
  /** Questions whose facts only `a` kept. */
  readonly a_only: number;
  /** Questions whose facts only `b` kept. */
  readonly b_only: number;
  /** Share that `a` kept, less that of `b`. */
  readonly difference: number;
  /** The 95% confidence interval: its lower and its upper end. */
  readonly ci95: readonly number[];
  readonly [name: string]: unknown;
}
/** One tier at one budget. Shares are between 0 and 1. */
export interface BenchmarkRow {
  /** The tier of compression. */
  readonly tier: string;
  /** Share of the tokens that may be left. */
  readonly budget: number;
  /** Number of documents. */
  readonly documents: number;
  /** Number of questions. */
  readonly cases: number;
  /** All facts survived, and the tokens are within the budget. */
  readonly kept: number;
  /** The 95% confidence interval: its lower and its upper end. */
  readonly kept_ci95: readonly number[];
  /** Share of the facts that are still there. */
  readonly facts_kept: number;
  /** Cases with more tokens than their budget. */
  readonly over_budget: number;
  /** Tokens before compression. */
  readonly tokens_before: number;
  /** Tokens after it. */
  readonly tokens_after: number;
  /** Share of the tokens that is saved, the median. */
  readonly saved_median: number;
  /** The same where least is saved. */
  readonly saved_worst: number;
  /** The same where most is saved. */
  readonly saved_best: number;
  readonly [name: string]: unknown;
}
export interface BuyKeyAnswer {
  /** The id of the order. */
  readonly order_id: string;
  /** The id of an API key, which is no secret. */
  readonly key_id: string;
  /** Null if the key was issued more than 72 hours ago, and in a repetition without the identifier of the payment. */
  readonly key: string | null;
  /** The tier of the key. */
  readonly tier: 'pro' | 'scale';
  /** Until when the key is good. */
  readonly paid_until: string;
  readonly settlement: Settlement;
}
/** Prompt and answer of a call. */
export interface CallContent {
  /** When it is deleted. */
  readonly kept_until: string;
  /** The body as the caller sent it; null if it is too long to be kept. */
  readonly request: {
    readonly [name: string]: unknown;
  } | null;
  /** The body that went to the provider, after routing and compression: in the caller’s protocol where the provider speaks it, otherwise as a chat completion. Null if it is too long to be kept. */
  readonly sent: {
    readonly [name: string]: unknown;
  } | null;
  /** The answer without `svc`. Of a stream, what was passed on, put together as one chat completion. Null if it is too long to be kept. */
  readonly answer: {
    readonly [name: string]: unknown;
  } | null;
}
/** Sums of calls in a bucket of time. */
export interface CallCount {
  /** When the bucket begins. */
  readonly at: string;
  /** The model, provider, status or key; null with `by=none`, or where a call has none. */
  readonly by: string | null;
  /** Number of calls. */
  readonly calls: number;
  /** Of them, those that ended with an error. */
  readonly errors: number;
  /** What they were charged, in USDC. */
  readonly cost_usdc: string;
  /** What compression saved, in USDC. */
  readonly saving_usdc: string;
  /** Tokens of the prompts. */
  readonly prompt_tokens: number;
  /** Tokens of the answers. */
  readonly completion_tokens: number;
  /** Median of `total_ms`; null where none is known. */
  readonly p50_ms: number | null;
  /** The `total_ms` that 95 % of the calls stay below. */
  readonly p95_ms: number | null;
}
/** A call of a model with everything that is known of it. */
export interface CallDetail {
  /** The id of the receipt; `call_…` for a call without one. */
  readonly id: string;
  /** When the call ended. */
  readonly at: string;
  /** The id of the receipt; null for a call that was not billed. */
  readonly receipt_id: string | null;
  /** The model that answered, or that a failed call was sent to; null if none was chosen. */
  readonly model: string | null;
  /** The model that was asked for. */
  readonly requested_model: string;
  /** The provider of the model. */
  readonly provider: string | null;
  /** Why the model was chosen: `outcome.why` of the routing. */
  readonly route_reason: string | null;
  /** Whether the answer was streamed. */
  readonly stream: boolean;
  /** Tokens of the prompt, as billed. */
  readonly prompt_tokens: number | null;
  /** Tokens of the answer, as billed. */
  readonly completion_tokens: number | null;
  /** Of the prompt, those read from the provider’s cache. */
  readonly cached_tokens: number | null;
  /** What the call was charged, in USDC. */
  readonly cost_usdc: string;
  /** What compression saved, in USDC. */
  readonly saving_usdc: string;
  /** Milliseconds to the first byte of the answer; null where it is not known. */
  readonly first_byte_ms: number | null;
  /** Milliseconds to the end of the call; null where it is not known, as after a crash. */
  readonly total_ms: number | null;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** The code of the error that was answered, or that ended a stream early. */
  readonly error_code: string | null;
  /** The DID that the call was made under. */
  readonly did: string | null;
  /** The id of an API key, which is no secret. */
  readonly key: string | null;
  /** The `svc.session` of the call. */
  readonly session: string | null;
  /** The `svc.tags` of the call. */
  readonly tags: {
    readonly [name: string]: string;
  };
  /** The hash of the request, as the receipt has it; null for a call without a receipt. */
  readonly request_hash: string | null;
  /** The purpose in the receipt. */
  readonly purpose: string;
  /** The profile of the receipt. */
  readonly profile: string | null;
  /** Whether prompt and answer are kept: `GET /v1/compute/calls/{id}/content`. */
  readonly content_kept: boolean;
  /** The steps of the call, in the order of their beginnings; empty where it is not known. */
  readonly timeline: readonly {
    /** The step; `route` includes `compress`, `tries` every call of a provider. */
    readonly step: 'compress' | 'route' | 'reserve' | 'tries' | 'first_byte' | 'settle';
    /** Milliseconds from the call’s acceptance to the beginning of this. */
    readonly at_ms: number;
    /** How many milliseconds it took. */
    readonly ms: number;
  }[];
  /** Tries that failed. */
  readonly tries: readonly {
    /** The model that was tried. */
    readonly model: string;
    /** What went wrong. */
    readonly kind: string;
    /** The provider’s HTTP status, if it gave one. */
    readonly status: number | null;
    /** Milliseconds from the call’s acceptance to the beginning of this. */
    readonly at_ms: number;
    /** How many milliseconds it took. */
    readonly ms: number;
  }[];
  /** The try that the answer came from, until the answer began, or was there in one piece; null where there was none, or it is not known. */
  readonly answered: {
    /** The model that answered. */
    readonly model: string;
    /** Its provider. */
    readonly provider: string;
    /** Milliseconds from the call’s acceptance to the beginning of this. */
    readonly at_ms: number;
    /** How many milliseconds it took. */
    readonly ms: number;
  } | null;
  /** Why the model was chosen: what `tally route explain` reads. */
  readonly routing: {
    readonly [name: string]: unknown;
  } | null;
  /** The bill, as `svc.billing` of an answer has it with `svc.explain`. */
  readonly billing: {
    readonly [name: string]: unknown;
  } | null;
  /** What became of the prompt, as `svc.compression` of an answer has it with `svc.explain`. */
  readonly compression: {
    readonly [name: string]: unknown;
  } | null;
}
/** A call of a model, as its caller’s list shows it. */
export interface CallRow {
  /** The id of the receipt; `call_…` for a call without one. */
  readonly id: string;
  /** When the call ended. */
  readonly at: string;
  /** The id of the receipt; null for a call that was not billed. */
  readonly receipt_id: string | null;
  /** The model that answered, or that a failed call was sent to; null if none was chosen. */
  readonly model: string | null;
  /** The model that was asked for. */
  readonly requested_model: string;
  /** The provider of the model. */
  readonly provider: string | null;
  /** Why the model was chosen: `outcome.why` of the routing. */
  readonly route_reason: string | null;
  /** Whether the answer was streamed. */
  readonly stream: boolean;
  /** Tokens of the prompt, as billed. */
  readonly prompt_tokens: number | null;
  /** Tokens of the answer, as billed. */
  readonly completion_tokens: number | null;
  /** Of the prompt, those read from the provider’s cache. */
  readonly cached_tokens: number | null;
  /** What the call was charged, in USDC. */
  readonly cost_usdc: string;
  /** What compression saved, in USDC. */
  readonly saving_usdc: string;
  /** Milliseconds to the first byte of the answer; null where it is not known. */
  readonly first_byte_ms: number | null;
  /** Milliseconds to the end of the call; null where it is not known, as after a crash. */
  readonly total_ms: number | null;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** The code of the error that was answered, or that ended a stream early. */
  readonly error_code: string | null;
  /** The DID that the call was made under. */
  readonly did: string | null;
  /** The id of an API key, which is no secret. */
  readonly key: string | null;
  /** The `svc.session` of the call. */
  readonly session: string | null;
  /** The `svc.tags` of the call. */
  readonly tags: {
    readonly [name: string]: string;
  };
  /** The hash of the request, as the receipt has it; null for a call without a receipt. */
  readonly request_hash: string | null;
  /** The purpose in the receipt. */
  readonly purpose: string;
  /** The profile of the receipt. */
  readonly profile: string | null;
  /** Whether prompt and answer are kept: `GET /v1/compute/calls/{id}/content`. */
  readonly content_kept: boolean;
}
/** A place in a law or a standard. */
export interface Citation {
  /** The citation as one writes it. */
  readonly label: string;
  /** The id of the instrument in the crosswalk. */
  readonly instrument: string;
  /** The title of the instrument. */
  readonly title: string;
  /** The article. */
  readonly article: string;
  /** The section of the article. */
  readonly section: string | null;
  /** The year of the instrument. */
  readonly year: number;
  /** Whether it binds. */
  readonly force: 'binding' | 'voluntary';
}
/** What became of the prompt (spec/compute.md). */
export interface Compression {
  /** As it was asked for. */
  readonly tier: 'off' | 'lossless' | 'extractive';
  /** The encoding that counted the tokens, or `provider`. */
  readonly tokenizer: string;
  /** Whether the model’s own tokenizer may count otherwise. */
  readonly estimate: boolean;
  /** Tokens of the messages’ texts as they came. */
  readonly tokens_before: number | null;
  /** Tokens of them as they were sent. */
  readonly tokens_after: number | null;
  /** The number of tokens that each method saved. */
  readonly methods: {
    readonly [name: string]: number;
  };
  /** Tokens that the provider could have read from its cache had the prompt not been changed. */
  readonly lost_cache_tokens: number;
  /** The blocks that were cut; the notice left in the text holds the id of its block. */
  readonly removed: readonly {
    /** The id of the block. */
    readonly id: string;
    /** How many units were cut. */
    readonly removed: number;
    /** How many units the block had. */
    readonly of: number;
    /** What is counted. */
    readonly unit: string;
    /** Tokens that this saved. */
    readonly tokens: number;
  }[];
  /** In words, where something was done otherwise than asked for. */
  readonly note?: string;
}
/** Of all callers together. */
export interface CompressionTotals {
  /** Number of chat calls. */
  readonly calls: number;
  /** Number of chat calls whose prompts came out shorter. */
  readonly changed_calls: number;
  /** Tokens of the prompts as they came. */
  readonly tokens_before: number;
  /** Tokens of them as they were sent. */
  readonly tokens_after: number;
  /** The difference. */
  readonly saved_tokens: number;
  /** Tokens that providers might have read from their caches and did not. */
  readonly lost_cache_tokens: number;
  /** What was saved, in money. */
  readonly saving: Money;
  /** The part of the saving that was returned to callers. */
  readonly share: Money;
  /** By the name of the method. */
  readonly methods: {
    readonly [name: string]: {
      /** Number of calls that it was used in. */
      readonly calls: number;
      /** Tokens that it saved. */
      readonly tokens: number;
    };
  };
}
/** The inference routes, for programs (specification 2.11). */
export interface ComputeDescriptor {
  /** The name of the service. */
  readonly service: string;
  /** The version of this descriptor. */
  readonly version: '2.0.0';
  /** What it is, in words. */
  readonly description: string;
  /** Method and path of each, by name. */
  readonly endpoints: {
    readonly [name: string]: string;
  };
  /** What of compression is measured, in words. */
  readonly benchmark_note: string;
  /** How calls are charged. */
  readonly pricing: {
    readonly [name: string]: unknown;
  };
  /** Share of the saving that goes back, by member tier, in percent. */
  readonly routing_spread_pct: {
    readonly [name: string]: number;
  };
  /** How a DID is registered. */
  readonly member_registration: {
    readonly [name: string]: unknown;
  };
  /** The chain that the service posts to. */
  readonly network: {
    /** The chain’s name. */
    readonly chain: string;
    /** The number of the chain (EIP-155). */
    readonly chain_id: number;
    /** The service. */
    readonly operator: string;
    readonly [name: string]: unknown;
  };
  /** How an agent begins. */
  readonly agent_onboarding: {
    /** The base URL for OpenAI’s clients. */
    readonly base_url: string;
    readonly [name: string]: unknown;
  };
}
/** What supersedes it; null if nothing does. */
export type CorrectionLink = {
  /** The id of the envelope that links both receipts. */
  readonly link_id: string;
  /** The id of the other receipt. */
  readonly receipt_id: string;
  /** Its anchored hash. */
  readonly receipt_sha256: string;
  /** Why, in words; null if nobody said. */
  readonly reason: string | null;
  /** When the envelope was issued. */
  readonly at: string;
} | null;
export interface CountCallsAnswer {
  /** One entry for each bucket and group. */
  readonly data: readonly CallCount[];
  /** The time from which on calls were counted; null where all of the period were. */
  readonly counted_from: string | null;
}
/** A DID document (W3C DID Core). */
export interface DidDocument {
  /** The did:web of the service. */
  readonly id: string;
  /** Its did:svc. */
  readonly alsoKnownAs: readonly string[];
  /** The keys. */
  readonly verificationMethod: readonly {
    /** The id of the key. */
    readonly id: string;
    readonly [name: string]: unknown;
  }[];
  readonly [name: string]: unknown;
}
/** What a chat call would come to, without making it. */
export interface Estimate {
  /** The model that would answer. */
  readonly model: string;
  /** What the call would be charged by. */
  readonly tokens: {
    /** Tokens of the prompt, as it would be sent. */
    readonly prompt: number;
    /** The most tokens of the answer, of all choices. */
    readonly max_completion: number;
    /** The encoding that counted. */
    readonly counted_with: string;
    readonly [name: string]: unknown;
  };
  readonly compression: Compression;
  /** What 1,000,000 tokens cost. */
  readonly price_per_million_tokens: Price;
  /** What the call would be charged. */
  readonly cost: {
    /** All amounts here are in USDC. */
    readonly asset: 'USDC';
    /** Of the prompt alone. */
    readonly min: Money;
    /** With the longest answer. */
    readonly max: Money;
  };
  /** What would come back. */
  readonly cashback: {
    /** All amounts here are in USDC. */
    readonly asset: 'USDC';
    /** What compression would save. */
    readonly saving: Money;
    /** The caller’s share of the saving. */
    readonly expected: Money;
    /** That share, in percent. */
    readonly percent: number;
    /** The member tier that it follows from. */
    readonly tier: string;
    /** How it would come back. */
    readonly as: 'discount' | 'credit';
    /** The DID that it would be credited to. */
    readonly to: string | null;
    readonly [name: string]: unknown;
  };
  /** Why the model would be chosen. */
  readonly routing: {
    readonly [name: string]: unknown;
  };
  readonly [name: string]: unknown;
}
/** An export of an evidence room. */
export interface EvidenceExport {
  /** The receipt of the export. */
  readonly receipt_id: string;
  /** When it was made. */
  readonly exported_at: string;
  /** The export that the receipt covers. */
  readonly manifest_sha256: string;
  /** When the receipts were issued. */
  readonly period: {
    /** From this instant. */
    readonly from: string;
    /** Up to this one, exclusive. */
    readonly to: string;
  };
  /** Number of receipts in it. */
  readonly receipts: number;
  /** Size of the bundle. */
  readonly bytes: number;
}
/** How a caller rates an answer. */
export interface Feedback {
  /** Id of the receipt of the rated call. */
  readonly receipt_id: string;
  /** Id of the model that answered. */
  readonly model: string;
  /** From 0 for a useless answer to 100 for one as good as can be. */
  readonly score: number;
  /** `good` is a score of 100, `bad` one of 0. */
  readonly label: 'good' | 'bad' | null;
  /** As it was given. */
  readonly comment: string | null;
  /** When the call was rated. */
  readonly rated_at: string;
}
export interface GetBalanceStatementAnswer {
  /** The ledger account: `caller:` and the id of the API key or the DID; `development` where nobody is named. */
  readonly account: string;
  /** All amounts here are in USDC. */
  readonly asset: 'USDC';
  /** The lines, oldest first. */
  readonly lines: readonly {
    /** The number of the line. */
    readonly line: number;
    /** When it was written. */
    readonly at: string;
    /** What came in, or with a minus went out. */
    readonly amount: Money;
    /** What was in the account after it. */
    readonly balance: Money;
    /** What it was for. */
    readonly memo: string;
    /** The id of what caused it, such as a receipt’s. */
    readonly id: string;
  }[];
  /** The `after` of the next page; null on the last one. */
  readonly next: number | null;
}
export interface GetCompressionStatsAnswer {
  /** All amounts here are in USDC. */
  readonly asset: 'USDC';
  readonly service: CompressionTotals;
  /** Of the caller; null where nobody is named. */
  readonly caller:
    | (CompressionTotals & {
        /** The DID, or the id of the API key. */
        readonly subject: string;
      })
    | null;
}
export interface GetCorrectionsAnswer {
  /** The id of this receipt. */
  readonly receipt_id: string;
  readonly corrected_by: CorrectionLink;
  /** What it supersedes; null if nothing. */
  readonly corrects: CorrectionLink;
}
export interface GetLeaderboardAnswer {
  /** The members. */
  readonly members: readonly (Member & {
    /** Its place, from 1. */
    readonly rank: number;
  })[];
}
export interface GetLimitsAnswer {
  /** The caller itself first; empty for a caller without an account. */
  readonly data: readonly SpenderLimits[];
}
/** An order of a key or a top-up. */
export interface KeyOrder {
  /** The id of the order. */
  readonly order_id: string;
  /** What was ordered. */
  readonly kind: 'key' | 'renewal' | 'top_up';
  /** What became of it; `open` until it is paid. */
  readonly state: 'open' | 'expired' | 'delivering' | 'undeliverable' | 'done';
  /** The tier of the key; null for a top-up. */
  readonly tier: string | null;
  /** For how many months the key is good. */
  readonly months: number;
  /** The transfer that paid it. */
  readonly payment: string | null;
  /** The id of the key, which is no secret. */
  readonly key_id: string | null;
  /** Until when the key is good. */
  readonly paid_until: string | null;
  /** When the key was delivered. */
  readonly delivered_at: string | null;
  /** How often its delivery was tried. */
  readonly attempts: number;
  /** The key, sealed to the DID that it is for; null for any other. */
  readonly sealed: {
    readonly [name: string]: unknown;
  } | null;
}
/** Limits of calls. A member that is absent or null is no limit. */
export interface Limits {
  /** What the calls of a UTC day may cost, in USDC. */
  readonly day_usdc?: string | null;
  /** What the calls of a calendar month (UTC) may cost, in USDC. */
  readonly month_usdc?: string | null;
  /** Calls in a minute. */
  readonly requests_per_minute?: number | null;
  /** Tokens in a minute, of prompts and answers; a call under way counts with the most that it may use. */
  readonly tokens_per_minute?: number | null;
  /** Ids or aliases of the models that may serve calls, and no others. */
  readonly models?: readonly string[] | null;
  /** Names of the providers that may serve calls, and no others. */
  readonly providers?: readonly string[] | null;
  /** The dearest model that may serve calls. */
  readonly max_price?: {
    /** The most for 1,000,000 tokens of the prompt, in USDC. */
    readonly prompt?: string | null;
    /** The most for 1,000,000 tokens of the answer, in USDC. */
    readonly completion?: string | null;
    /** The most that a call is expected to cost, in USDC. */
    readonly request?: string | null;
  } | null;
}
export interface ListAnchorsAnswer {
  /** The rows, newest first. */
  readonly data: readonly LogLeaf[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
}
export interface ListCallsAnswer {
  /** The rows, newest first. */
  readonly data: readonly CallRow[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
}
export interface ListEvidenceExportsAnswer {
  /** Oldest first. */
  readonly exports: readonly EvidenceExport[];
}
export interface ListKeysAnswer {
  /** The keys, newest first. */
  readonly data: readonly ApiKey[];
  /** The `cursor` of the next page; null on the last one. */
  readonly next_cursor: string | null;
}
export interface ListLeavesAnswer {
  /** The rows, newest first. */
  readonly data: readonly LogLeaf[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
}
export interface ListModelsAnswer {
  /** Always this. */
  readonly object: 'list';
  /** The models. */
  readonly data: readonly Model[];
}
export interface ListPostingsAnswer {
  /** The rows, newest first. */
  readonly data: readonly Posting[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
  /** The same as `data`. */
  readonly postings: readonly Posting[];
}
export interface ListReceiptsAnswer {
  /** The rows, newest first. */
  readonly data: readonly ListedReceipt[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
}
export interface ListSessionsAnswer {
  /** The rows, newest first. */
  readonly data: readonly ListedSession[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
}
export interface ListTenantReceiptsAnswer {
  /** The rows, newest first. */
  readonly data: readonly ListedReceipt[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
}
export interface ListWebhookDeliveriesAnswer {
  /** The rows, newest first. */
  readonly data: readonly WebhookDelivery[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
}
export interface ListWebhooksAnswer {
  /** The rows, newest first. */
  readonly data: readonly Webhook[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
}
export interface ListWithdrawalsAnswer {
  /** The rows, newest first. */
  readonly data: readonly Withdrawal[];
  /** Continues after the last row; null where there are no more. */
  readonly next_cursor: string | null;
  /** The rows of `data`, oldest first. */
  readonly withdrawals: readonly Withdrawal[];
}
/** A receipt in a list: `GET /v1/receipt/{id}` answers it whole. */
export interface ListedReceipt {
  /** The id of the receipt. */
  readonly receipt_id: string;
  /** When it was issued. */
  readonly at: string;
  /** Its profile, or `metering`. */
  readonly profile: string;
  /** The purpose that it states. */
  readonly purpose: string | null;
  /** The agent that it names. */
  readonly did: string | null;
  /** The API key that it was made with. */
  readonly key: string | null;
  /** The model of the call that it is of. */
  readonly model: string | null;
  /** The provider of that model. */
  readonly provider: string | null;
  /** How that call ended: `error` where its answer broke off. */
  readonly status: 'ok' | 'error' | null;
  /** SHA-256 of the request or the subject, in hex. */
  readonly request_hash: string | null;
  /** The session that it is a step of. */
  readonly session: string | null;
  /** What was paid for it; null where that is not known. */
  readonly cost_usdc: string | null;
  /** Its place in the log. */
  readonly anchored: {
    /** From 0; null if it is not in the log. */
    readonly leaf_index: number | null;
  };
  /** Until when the service keeps it. */
  readonly expires_at: string;
}
/** A session in a list. */
export interface ListedSession {
  /** Its id: the `svc.session` of its calls, or the `session_id` that it was opened with. */
  readonly session: string;
  /** When its first call ended or its first receipt was issued. */
  readonly at: string;
  /** When its last call ended or its last receipt was issued, so far. */
  readonly last_at: string;
  /** Calls of models under its id. */
  readonly calls: number;
  /** Calls among them that went wrong. */
  readonly errors: number;
  /** Receipts of the session that the service signed; 0 where it was not opened here. */
  readonly receipts: number;
  /** Receipts among them of calls of tools. */
  readonly tool_calls: number;
  /** What its calls and its receipts cost. */
  readonly cost_usdc: string;
}
/** A hash in the log. */
export interface LogLeaf {
  /** Its place in the log, from 0. */
  readonly leaf_index: number;
  /** SHA-256 of the canonical JSON (JCS, RFC 8785) of the anchored document: base64url, 43 characters. */
  readonly canonical_sha256: string;
  /** The posting that it was scheduled for, to the minute (UTC). */
  readonly batch_id: string;
  /** A reference by which `GET /v1/anchor/{anchor_ref}` finds it, now and later. */
  readonly anchor_ref: string;
  readonly posting: Posting;
}
/** How far the anchor log is. Nothing of it is signed. */
export interface LogStatus {
  /** The name of the log and of its key. */
  readonly origin: string;
  /** The log’s key in the C2SP verifier key format. */
  readonly verifier_key: string;
  /** The number of hashes accepted. */
  readonly accepted: number;
  /** How many of them the newest checkpoint covers. */
  readonly tree_size: number;
  /** How many of them are covered by a root that is final on the chain. */
  readonly anchored_size: number;
  /** `ok`, or why no hashes are accepted. */
  readonly accepting: string;
  /** `ok`, or why postings are held up, if this process is the one that posts. */
  readonly posting: string;
  /** How long the oldest unanchored hash has waited past its posting; 0 if none has. */
  readonly overdue_seconds: number;
  /** Time between two postings. */
  readonly period_seconds: number;
  /** When the next posting is due. */
  readonly next_posting_at: string;
  /** Where roots are posted, and by which account. */
  readonly chain: {
    /** The chain’s name. */
    readonly network: string;
    /** The number of the chain (EIP-155). */
    readonly chain_id: number;
    /** The account that posts. */
    readonly address: string;
  } | null;
  /** The keys of the witnesses that are asked to cosign checkpoints: C2SP verifier keys of type 0x04, or 0x06 for ML-DSA-44. */
  readonly witnesses: readonly string[];
}
/** A DID that is registered. */
export interface Member {
  /** The DID. */
  readonly did: string;
  /** The name that it chose. */
  readonly handle: string | null;
  /** Always true of a member. */
  readonly registered: true;
  /** When it was registered. */
  readonly registered_at: string;
  /** By its jobs. */
  readonly tier: 'unregistered' | 'member' | 'member_enterprise' | 'member_scale';
  /** The member’s share of what compression saves, in percent. */
  readonly spread_pct: number;
  /** Completed, paid calls since registration. */
  readonly jobs: number;
  /** Null in the highest tier. */
  readonly jobs_to_next_tier: number | null;
}
/** A model, as OpenAI lists it, with `svc`. */
export interface Model {
  /** What `model` of a call names. */
  readonly id: string;
  /** Always this. */
  readonly object: 'model';
  /** Always 0: the service has no date for a model. */
  readonly created: number;
  /** The provider. */
  readonly owned_by: string;
  /** What the service knows of the model; of a built-in one also its `card`. */
  readonly svc: {
    /** What the model does. */
    readonly kind: 'chat' | 'embedding';
    /** The most tokens of prompt and answer together. */
    readonly context: number;
    /** The most tokens of an answer. */
    readonly max_output: number | null;
    /** The lengths of an embedding model’s vectors, as far as they are known. */
    readonly dimensions?: {
      /** The length where none is asked for. */
      readonly default: number;
      /** The shorter ones that can be asked for. */
      readonly shorter: 'any' | readonly number[];
    };
    /** What the model takes, such as `tools`. */
    readonly abilities: readonly string[];
    /** What 1,000,000 tokens cost. */
    readonly price_per_million_tokens: Price;
    /** Other prices, for some calls. Of those that apply, the last one counts. */
    readonly tariffs: readonly {
      /** Only for prompts of more tokens than this; null for any. */
      readonly above_tokens: number | null;
      /** Only for calls that the provider served so; null for any. */
      readonly service_tier: 'batch' | 'flex' | 'priority' | null;
      /** What 1,000,000 tokens cost. */
      readonly price_per_million_tokens: Price;
    }[];
    /** Where the prices are from; null for a free model, or one that the operator priced. */
    readonly price_source: {
      /** The page that states the prices. */
      readonly page: string;
      /** The day on which it was read. */
      readonly read_on: string;
      /** Whether a stored copy was read, which may be older than that day. */
      readonly copy: boolean;
      /** The last day on which the page promises them; null if it does not say. */
      readonly valid_until: string | null;
    } | null;
    /** The day on which its provider shuts it down; null if none is announced. */
    readonly retires_at: string | null;
    /** What its provider recommends instead. */
    readonly successors: readonly string[];
    /** What is wrong with the entry, or will be. With `retired` and `price_outdated` the model is not called. */
    readonly warning: 'retired' | 'price_outdated' | 'retires_soon' | 'price_old' | null;
    /** What it runs on, as far as is known. */
    readonly hardware: string | null;
    /** Where it runs, as far as is known. */
    readonly region: string | null;
    /** The state that calls of the last minutes showed, as in `/status`. */
    readonly health: {
      /** `unknown` where nobody called it lately. */
      readonly state: 'up' | 'degraded' | 'down' | 'unknown';
      /** `ok`, or what was wrong. */
      readonly code: string;
    };
    readonly [name: string]: unknown;
  };
}
/** All that is in the account. */
export interface Money {
  /** Decimal text with nine places. */
  readonly usdc: string;
  /** The same amount in nano-USDC. */
  readonly nano: string;
}
/** An API key that was just made, with the key itself. */
export interface NewApiKey {
  /** The id of an API key, which is no secret. */
  readonly id: string;
  /** Its name; null where it has none. */
  readonly name: string | null;
  /** When it was made. */
  readonly created_at: string;
  /** When a request last came with it, to within some seconds; null where none did. */
  readonly last_used_at: string | null;
  /** When it stops working; null for never. */
  readonly expires_at: string | null;
  /** When it was revoked; null where it was not. */
  readonly revoked_at: string | null;
  /** Whether it may make and change keys of the account. */
  readonly manages: boolean;
  /** Whether prompt and answer of its calls are kept where the operator allows it and the call does not say `svc.keep` itself. */
  readonly keep: boolean;
  readonly limits: Limits;
  /** What its calls were charged. */
  readonly spent: {
    /** What its calls of this UTC day were charged, in USDC. */
    readonly day_usdc: string;
    /** What its calls of this calendar month (UTC) were charged, in USDC. */
    readonly month_usdc: string;
  };
  /** The key itself. It is shown here and never again. */
  readonly key: string;
}
/** A webhook with its secret, which is shown this once. */
export interface NewWebhook {
  /** Its id. */
  readonly id: string;
  /** Where messages are sent: an https URL without user name and fragment, at most 2048 characters. */
  readonly url: string;
  /** What it is told of (docs/webhooks.md). */
  readonly events: readonly (
    | 'balance.low'
    | 'budget.reached'
    | 'key.revoked'
    | 'anchor.final'
    | 'status.changed'
  )[];
  /** Whether messages are sent to it. */
  readonly enabled: boolean;
  /** `owner`: you disabled it. `failing`: it accepted nothing for three days. `gone`: it answered 410. Null while it is enabled. */
  readonly disabled_because: 'owner' | 'failing' | 'gone' | null;
  /** When it was disabled; null while it is enabled. */
  readonly disabled_at: string | null;
  /** Since when every attempt has failed; null after one that was accepted. */
  readonly failing_since: string | null;
  /** Until when messages carry a signature by the secret before as well; null if none was rotated away, or it no longer signs. */
  readonly previous_secret_until: string | null;
  /** When it was made. */
  readonly created_at: string;
  /** The secret that its messages are signed with: `whsec_` and base64. It is shown this once. */
  readonly secret: string;
}
/** What can be paid for by x402. */
export interface Payable {
  /** The version of x402. */
  readonly x402Version: 2;
  /** CAIP-2. */
  readonly network: string | null;
  /** The contract of USDC there. */
  readonly asset: string | null;
  /** The treasury. */
  readonly pay_to: string | null;
  /** What can be paid for. */
  readonly resources: readonly {
    /** The method of the request. */
    readonly method: string;
    /** Its URL; `{name}` stands for a path parameter. */
    readonly url: string;
    /** What the price is for. */
    readonly unit: string;
    readonly [name: string]: unknown;
  }[];
}
/** How an order is paid. */
export interface PaymentInstructions {
  /** The id of the order, which its state is asked by. */
  readonly order_id: string;
  /** CAIP-2. */
  readonly network: string;
  /** The USDC contract on that network. */
  readonly asset: string;
  /** The treasury. */
  readonly pay_to: string;
  /** The exact amount in base units (millionths). */
  readonly amount: string;
  /** The same in USDC. */
  readonly amount_usdc: string;
  /** The transfer must be in a block by then; a later one is refunded. */
  readonly expires_at: string;
  /** The number of blocks after which the transfer counts. */
  readonly confirmations: number;
}
/** The first posting whose root covers it; null until there is one. */
export type Posting = {
  /** From 1, one for each posting. */
  readonly sequence: number;
  /** The number of leaves that the root covers. */
  readonly tree_size: number;
  /** The root hash. */
  readonly merkle_root: string;
  /** The hashes under the root are anchored once this is `finalized`. */
  readonly state: 'queued' | 'broadcast' | 'confirmed' | 'finalized';
  /** When it was due. */
  readonly scheduled_at: string;
  /** Its transaction; null until it is in a block. */
  readonly tx_hash: string | null;
  /** Its block; null until it is in one. */
  readonly block_height: number | null;
  /** The block’s own time. */
  readonly block_time: string | null;
} | null;
/** By the tariff of the first call. */
export interface Price {
  /** Of prompt tokens. */
  readonly input: Money;
  /** Of tokens of the answer. */
  readonly output: Money;
  /** Of prompt tokens read from the provider’s cache. */
  readonly cache_read: Money;
  /** Of prompt tokens written to the provider’s cache. */
  readonly cache_write: Money;
  /** Of those that the cache keeps for an hour or longer. */
  readonly cache_write_long: Money;
}
/** What everything costs and how it is paid. */
export interface Pricing {
  /** Of all amounts here. */
  readonly currency: 'USD';
  /** Since when these prices hold. */
  readonly valid_from: string;
  /** Receipts of each profile. */
  readonly profiles: readonly {
    /** The profile. */
    readonly profile: 'nano' | 'standard' | 'pq';
    /** The price of one. */
    readonly price_usd: string;
    /** What is paid for. */
    readonly unit: 'call';
    /** The most bytes of canonical JSON; null without limit. */
    readonly max_bytes: number | null;
    /** For how long it is kept, in days. */
    readonly retention_days: number;
    /** Whether it is the one when none is named. */
    readonly default: boolean;
    /** How it can be paid: names in `payment.methods`. */
    readonly pay_by: readonly string[];
  }[];
  /** Metering receipts. */
  readonly metering: {
    /** Where they are minted. */
    readonly path: string;
    /** The price of one. */
    readonly price_usd: string;
    /** What is paid for. */
    readonly unit: 'call';
    /** The most bytes of canonical JSON; null without limit. */
    readonly max_bytes: number | null;
    /** For how long it is kept, in days. */
    readonly retention_days: number;
    /** How it can be paid: names in `payment.methods`. */
    readonly pay_by: readonly string[];
  };
  /** What keys of each tier cost, and what they allow. */
  readonly anchor_tiers: readonly {
    /** The tier. */
    readonly tier: string;
    /** The verifier that comes with it. */
    readonly verifier: string;
    /** Whether this service has that. */
    readonly verifier_available: boolean;
    /** A month’s price. */
    readonly monthly_usd: string | null;
    /** A year’s price, paid at once. */
    readonly annual_usd: string | null;
    /** How it can be paid: names in `payment.methods`. */
    readonly pay_by: readonly string[];
    readonly [name: string]: unknown;
  }[];
  /** Reads of `/v1/compute`. */
  readonly reads: {
    /** Of a read beyond the free ones. */
    readonly price_usd: string;
    /** Free reads a UTC day of each DID. */
    readonly free_per_day: number | null;
    /** Free reads a UTC day of all DIDs at one address. */
    readonly free_per_day_by_address: number | null;
    readonly [name: string]: unknown;
  };
  /** Calls of models. */
  readonly compute: {
    /** By member tier, in percent. */
    readonly share_of_savings_pct: {
      readonly [name: string]: number;
    };
    readonly [name: string]: unknown;
  };
  /** How payments are made; null where none are taken. */
  readonly payment: {
    /** CAIP-2. */
    readonly network: string;
    /** The contract of USDC there. */
    readonly token: string;
    /** Where payments go. */
    readonly treasury: string;
    /** After so many blocks a transfer counts. */
    readonly confirmations: number;
    /** The names in `pay_by`, explained. */
    readonly methods: {
      readonly [name: string]: unknown;
    };
    readonly [name: string]: unknown;
  } | null;
  readonly [name: string]: unknown;
}
/** How an order is paid. */
export type QuoteKeyAnswer = PaymentInstructions & {
  /** The tier of the key. */
  readonly tier: 'pro' | 'scale';
  /** For how many months it is good. */
  readonly months: number;
  /** Where the key will go, null for a renewal. It is issuer_did where the contact is an e-mail address and this service sends no e-mail. */
  readonly delivered_to: {
    /** The kind of place. */
    readonly kind: 'email' | 'domain' | 'did';
    /** The address, the domain or the DID. */
    readonly to: string;
  } | null;
};
/** How ready a surface is (docs/prospector.md). */
export interface Readiness {
  /** Always this. */
  readonly type: 'svc-readiness-v1';
  /** What was looked at. */
  readonly origin: string;
  /** When it was looked at. */
  readonly checked_at: string;
  /** `ready`: 80 or more, nothing critical; `gaps`: nothing critical. */
  readonly verdict: 'ready' | 'gaps' | 'not_ready';
  /** 0 to 100, over the areas that were checked. */
  readonly score: number;
  /** The total weight of the areas that were checked, out of 100. */
  readonly coverage: number;
  /** Whether there was enough time for every check. */
  readonly complete: boolean;
  /** The areas, each with its score. */
  readonly areas: readonly {
    /** The name of the area. */
    readonly area: string;
    /** Its weight in the score; all together have 100. */
    readonly weight: number;
    /** `found`: there are findings. */
    readonly state: 'passed' | 'found' | 'not_checked';
    /** 0 to 100; null if the area was not checked. */
    readonly score: number | null;
    /** The checks that passed. */
    readonly notes: readonly string[];
  }[];
  /** The findings, most serious first. */
  readonly findings: readonly {
    /** Stable. */
    readonly code: string;
    /** The area that it is of. */
    readonly area: string;
    /** How grave it is. */
    readonly severity: 'critical' | 'major' | 'minor';
    /** The same text whenever the code is the same. */
    readonly title: string;
    /** What was found here. */
    readonly detail: string;
    /** What to do about it. */
    readonly fix: string;
    /** The requests that show it. */
    readonly evidence: readonly ReadinessEvidence[];
  }[];
  /** What the report does not say. */
  readonly trust_note: string;
}
/** A request that was made, and what came of it. */
export interface ReadinessEvidence {
  /** The method of the request. */
  readonly method: string;
  /** Its URL. */
  readonly url: string;
  /** Null if no answer came. */
  readonly status: number | null;
  /** At most 200 bytes of the body, secrets taken out. */
  readonly excerpt: string;
}
/** Which profile to take, and why. */
export interface Recommendation {
  /** The profile to take. */
  readonly recommended_profile: 'nano' | 'standard' | 'pq';
  /** The rule that decided. */
  readonly rule: 'regulated' | 'retention' | 'verify' | 'sub_cent' | 'commerce';
  /** Why, in words. */
  readonly reason: string;
  /** What a receipt of it costs. */
  readonly price_usd: string;
  /** The other profiles. */
  readonly alternatives: readonly {
    /** The profile. */
    readonly profile: 'nano' | 'standard' | 'pq';
    /** What a receipt of it costs. */
    readonly price_usd: string;
    /** When it is the better choice. */
    readonly when: string;
  }[];
}
/** A policy, expressed for other jurisdictions. */
export interface RosettaAnswer {
  /** Always this. */
  readonly type: 'svc-rosetta-v1';
  /** That this is not legal advice. */
  readonly notice: string;
  /** For which the policy was made. */
  readonly jurisdiction: string;
  /** The table that the policy was compared with. */
  readonly crosswalk: {
    /** The version of the table. */
    readonly version: string;
    /** The hash of its JCS. */
    readonly digest: string;
    /** The day of the table. */
    readonly as_of: string;
    /** Number of its entries. */
    readonly entries: number;
    /** Of them, how many a person has checked. */
    readonly checked_by_person: number;
  };
  /** The policy as it was understood. */
  readonly policy: readonly {
    /** The concept. */
    readonly concept: string;
    readonly [name: string]: unknown;
  }[];
  /** What is not known; it is never guessed. */
  readonly unknown: readonly {
    /** The concept. */
    readonly concept: string;
    /** The term, if the concept is known. */
    readonly term: string | null;
    /** What of it is not known. */
    readonly reason: 'unknown_concept' | 'unknown_term' | 'unknown_value';
    /** What would be. */
    readonly expected: string;
    /** What is near it. */
    readonly did_you_mean: string | null;
  }[];
  /** The targets. */
  readonly targets: readonly {
    /** The id of the target. */
    readonly jurisdiction: string;
    /** Its name. */
    readonly name: string;
    /** The policy that would do there. */
    readonly policy: readonly {
      /** The concept. */
      readonly concept: string;
      readonly [name: string]: unknown;
    }[];
    /** Each concept, compared. */
    readonly concepts: readonly RosettaConcept[];
    /** Concepts that the target has rules for and the policy does not state. */
    readonly unstated: readonly string[];
  }[];
  /** The receipt of the answer. */
  readonly svc: {
    readonly receipt: EnvelopeReceipt;
  };
}
/** A concept of the policy in a target. */
export interface RosettaConcept {
  /** The concept. */
  readonly concept: string;
  /** What the comparison comes to. */
  readonly outcome: 'same' | 'stricter' | 'no_equivalent' | 'decide' | 'maps';
  /** Whether the concept is there too. */
  readonly equivalent: 'full' | 'partial' | 'none';
  /** How the target treats the concept, in words. */
  readonly summary: string;
  /** Where the policy’s own jurisdiction says so. */
  readonly from: readonly Citation[];
  /** Where the target says so. */
  readonly to: readonly Citation[];
  /** Terms that the policy meets there. */
  readonly maps: readonly RosettaTerm[];
  /** Terms that the target is stricter on. */
  readonly stricter: readonly RosettaTerm[];
  /** Terms that the target does not know. */
  readonly no_equivalent: readonly string[];
  /** What a person must decide. */
  readonly decide: readonly {
    /** Why a person must decide. */
    readonly reason:
      | 'standard'
      | 'unstated'
      | 'voluntary'
      | 'condition'
      | 'choice'
      | 'question'
      | 'unchecked';
    /** The term that it is of, if it is of one. */
    readonly term: string | null;
    /** What is to be decided. */
    readonly question: string;
    /** Where the law says so, if it does. */
    readonly citation: Citation | null;
  }[];
  /** How sure the entry of the table is. */
  readonly confidence: 'settled' | 'in_motion' | 'needs_person';
  /** What else there is to know. */
  readonly note: string | null;
  /** The day of the entry. */
  readonly as_of: string;
  /** Who has checked the entry. */
  readonly checked: {
    /** Whether a person has checked it. */
    readonly by_person: boolean;
    readonly [name: string]: unknown;
  };
}
/** The table that policies are compared with. */
export interface RosettaCrosswalk {
  /** The version of the table. */
  readonly version: string;
  /** The hash of its JCS. */
  readonly digest: string;
  /** The day of the table. */
  readonly as_of: string;
  /** Number of its entries. */
  readonly entries: number;
  /** Of them, how many a person has checked. */
  readonly checked_by_person: number;
  /** That this is not legal advice. */
  readonly notice: string;
  /** The table itself. */
  readonly crosswalk: {
    readonly [name: string]: unknown;
  };
}
/** A term, what the policy says of it and what the law does. */
export interface RosettaTerm {
  /** The term of the concept. */
  readonly term: string;
  /** What the policy says; null where it says nothing. */
  readonly value: number | boolean | string | null;
  /** What the law requires; null where that is no single value. */
  readonly require: {
    /** How the value is compared. */
    readonly op: 'at_most' | 'at_least' | 'equals' | 'at_least_level' | 'one_of';
    /** What it is compared with. */
    readonly value: number | boolean | string | readonly string[];
  } | null;
  /** The unit of the values. */
  readonly unit: 'day' | 'hour' | 'month' | 'year' | null;
  /** What the law says, in words. */
  readonly says: string;
  /** The condition under which the rule holds. */
  readonly when: string | null;
  /** The day from which it holds. */
  readonly applies_from: string | null;
  readonly citation: Citation;
}
/** How an x402 payment was settled. */
export interface Settlement {
  /** CAIP-2. */
  readonly network: string;
  /** All amounts here are in USDC. */
  readonly asset: 'USDC';
  /** What was paid. */
  readonly amount: Money;
  /** Who paid. */
  readonly payer: string;
  /** The transaction, where it is known already. */
  readonly tx: string | null;
}
/** What calls count in: its limits and spending. */
export interface SpenderLimits {
  /** The id of the API key, or the DID. */
  readonly spender: string;
  readonly limits: Limits;
  /** What its calls were charged. */
  readonly spent: {
    /** What its calls of this UTC day were charged, in USDC. */
    readonly day_usdc: string;
    /** What its calls of this calendar month (UTC) were charged, in USDC. */
    readonly month_usdc: string;
  };
}
/** How the service is, signed (spec/status.md). */
export interface Status {
  /** Always this. */
  readonly type: 'svc-status-v1';
  /** The version of the format. */
  readonly version: 1;
  /** Each document has the next number. */
  readonly sequence: number;
  /** The hash of the document before; null for the first. */
  readonly previous_sha256: string | null;
  /** When it was signed. */
  readonly issued_at: string;
  /** From then on it says nothing of the present. */
  readonly valid_until: string;
  /** Name and version of the software. */
  readonly service: string;
  /** The endpoints. */
  readonly endpoints: readonly StatusEndpoint[];
  /** The providers of models. */
  readonly providers: readonly StatusModel[];
  /** The models. */
  readonly models: readonly StatusModel[];
  /** The anchor log. */
  readonly log: {
    /** The newest checkpoint; null before the first. */
    readonly checkpoint: {
      /** The name of the log. */
      readonly origin: string;
      /** Number of its leaves. */
      readonly size: number;
      /** Its root hash. */
      readonly root: string;
    } | null;
    /** Hashes that have a place. */
    readonly accepted: number;
    /** Of them, how many are final on the chain. */
    readonly anchored: number;
    /** The longest time that the oldest unanchored hash can have waited. */
    readonly oldest_unanchored_seconds: number | null;
  };
  /** The service. */
  readonly issuer_did: string;
  /** An Ed25519 public key: 32 bytes, base64url without padding. */
  readonly issuer_pubkey: string;
  /** The id of the status key. */
  readonly key_id: string;
  /** An Ed25519 signature: 64 bytes, base64url without padding. */
  readonly sig_b64u: string;
  readonly [name: string]: unknown;
}
/** How an endpoint is. */
export interface StatusEndpoint {
  /** Its name here. */
  readonly name: string;
  /** The method of the request. */
  readonly method: 'GET' | 'POST';
  /** The path of the request. */
  readonly path: string;
  /** Whether it is a pilot. */
  readonly availability: 'live' | 'pilot';
  /** `answer`: the probe’s request was served in full. `refusal`: the endpoint refused the probe’s request, as it must. */
  readonly probe: 'answer' | 'refusal';
  /** How it is. */
  readonly state: 'up' | 'degraded' | 'down' | 'unknown';
  /** `ok`, or what was wrong. */
  readonly code: string;
  /** The median of the newest `samples`. */
  readonly latency_ms: number | null;
  /** How many of the newest answers are looked at. */
  readonly samples: number;
  /** When it was asked last. */
  readonly checked_at: string;
  /** When the endpoint or model entered this `state`. */
  readonly since: string;
}
/** How a provider or a model is. */
export interface StatusModel {
  /** The id of the provider or model. */
  readonly id: string;
  /** `unknown` if nobody called it lately. */
  readonly state: 'up' | 'degraded' | 'down' | 'unknown';
  /** `ok`, or what was wrong. */
  readonly code: string;
  /** When the endpoint or model entered this `state`. */
  readonly since: string;
  /** Only of a model, where there is one: its provider shuts it down within a month, or its price was read more than 90 days ago. */
  readonly warning?: 'retires_soon' | 'price_old';
}
export interface TestWebhookAnswer {
  /** The id of the message. */
  readonly id: string;
}
export interface TopUpBalanceAnswer {
  /** The ledger account that was credited. */
  readonly account: string;
  /** What it was credited. */
  readonly credited: Money;
  /** What is in it now; null where `account` named it, which proves nothing. */
  readonly balance: Money | null;
  readonly settlement: Settlement;
}
/** The calls of a DID or an API key, by UTC day and model. */
export interface Usage {
  /** Whose usage it is: a DID, or the id of an API key. */
  readonly did: string;
  /** One entry for each day and model. */
  readonly days: readonly {
    /** The UTC day. */
    readonly day: string;
    /** The id of the model. */
    readonly model: string;
    /** Number of calls. */
    readonly calls: number;
    /** Tokens of their prompts. */
    readonly prompt_tokens: number;
    /** Tokens of their answers. */
    readonly completion_tokens: number;
    /** Of the prompts, tokens read from providers’ caches. */
    readonly cached_tokens: number;
    /** What they were charged. */
    readonly charged: Money;
    /** Tokens that compression saved. */
    readonly saved_tokens: number;
    /** What that saved. */
    readonly saving: Money;
    /** What of the saving went back. */
    readonly share: Money;
  }[];
  /** The sums of `days`. */
  readonly total: {
    /** Number of calls. */
    readonly calls: number;
    /** Tokens of their prompts. */
    readonly prompt_tokens: number;
    /** Tokens of their answers. */
    readonly completion_tokens: number;
    /** Of the prompts, tokens read from providers’ caches. */
    readonly cached_tokens: number;
    /** What they were charged. */
    readonly charged: Money;
    /** Tokens that compression saved. */
    readonly saved_tokens: number;
    /** What that saved. */
    readonly saving: Money;
    /** What of the saving went back. */
    readonly share: Money;
  };
  /** The account that pays for it. */
  readonly account: {
    /** All amounts here are in USDC. */
    readonly asset: 'USDC';
    /** What is in the account. */
    readonly balance: Money;
    /** Of it, what is put aside for calls under way. */
    readonly reserved: Money;
  };
}
export type VerifyMemberAnswer =
  | Member
  | {
      /** The DID. */
      readonly did: string;
      /** It is no member. */
      readonly registered: false;
      /** Of whoever is no member. */
      readonly tier: 'unregistered';
      /** Its share of what compression saves, in percent. */
      readonly spread_pct: number;
    };
/** A webhook, without its secret. */
export interface Webhook {
  /** Its id. */
  readonly id: string;
  /** Where messages are sent: an https URL without user name and fragment, at most 2048 characters. */
  readonly url: string;
  /** What it is told of (docs/webhooks.md). */
  readonly events: readonly (
    | 'balance.low'
    | 'budget.reached'
    | 'key.revoked'
    | 'anchor.final'
    | 'status.changed'
  )[];
  /** Whether messages are sent to it. */
  readonly enabled: boolean;
  /** `owner`: you disabled it. `failing`: it accepted nothing for three days. `gone`: it answered 410. Null while it is enabled. */
  readonly disabled_because: 'owner' | 'failing' | 'gone' | null;
  /** When it was disabled; null while it is enabled. */
  readonly disabled_at: string | null;
  /** Since when every attempt has failed; null after one that was accepted. */
  readonly failing_since: string | null;
  /** Until when messages carry a signature by the secret before as well; null if none was rotated away, or it no longer signs. */
  readonly previous_secret_until: string | null;
  /** When it was made. */
  readonly created_at: string;
}
/** A message to a webhook, and what became of it. */
export interface WebhookDelivery {
  /** The id of the message, sent as `webhook-id`. */
  readonly id: string;
  /** The event, or `webhook.test`. */
  readonly type: string;
  /** When the message was made. */
  readonly at: string;
  /** What became of it. */
  readonly state: 'waiting' | 'delivered' | 'failed';
  /** How often it was sent. */
  readonly attempts: number;
  /** When it is sent again; null if it is not. */
  readonly next_attempt_at: string | null;
  /** When it was sent last; null before. */
  readonly last_attempt_at: string | null;
  /** HTTP status of the last answer; null without one. */
  readonly status: number | null;
  /** Why the last attempt failed. */
  readonly problem: string | null;
  /** Milliseconds that the last attempt took. */
  readonly took_ms: number | null;
  /** What is sent: `type`, `timestamp` and `data`. */
  readonly message: {
    readonly [name: string]: unknown;
  };
}
/** A withdrawal, and what became of it. */
export interface Withdrawal {
  /** The id of the withdrawal. */
  readonly id: string;
  /** What became of it. */
  readonly state: 'waiting' | 'paying' | 'paid' | 'declined';
  /** CAIP-2. */
  readonly network: string;
  /** Where it is paid to. */
  readonly address: string;
  /** What is paid. */
  readonly amount: Money;
  /** When it was asked for. */
  readonly requested_at: string;
  /** The transaction that pays it; null until then. */
  readonly tx_hash: string | null;
  /** What the operator says of it. */
  readonly note: string | null;
}
