import type { AdmitOperator, Callers, ClientAddresses, WebhookService } from '@tallystick/callers';
import type { Chain } from '@tallystick/chain';
import type { Money } from '@tallystick/chain/evm';
import type { Compute, FreeReads, Shadows } from '@tallystick/inference';
import type { OwnIssuer, Registry, TrustService } from '@tallystick/issuers';
import type { KeyedMutex, LogStorms } from '@tallystick/kit';
import type { Claims, ProcessLease } from '@tallystick/ledger';
import type { AnchorLog } from '@tallystick/log';
import type { KeySales, Payments } from '@tallystick/payments';
import type { TreasuryService } from '@tallystick/payments/treasury';
import type { Unstored, VerificationQueue } from '@tallystick/receipts';
import type { Store } from '@tallystick/store';
import type { Logger } from 'pino';
import type { Config } from './config/config.ts';
import type { Tails } from './http/tails.ts';
import type { Metrics } from './observability/observability.ts';
import type { Tracing } from './observability/tracing.ts';
import type { PriceLadder } from './prices/price-ladder.ts';
import type { StatusService } from './status/status.ts';

/** What every part needs. `clock` gives Unix milliseconds. */
interface Foundation {
  readonly config: Config;
  /** Files with evidence of hardware, by their SHA-256 in hex. */
  attestations(): Config['attestations'];
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Null while telemetry is off. */
  readonly tracing: Tracing | null;
  /** Bounds what a fault that comes again and again writes into the log. */
  readonly storms: LogStorms;
  readonly store: Store;
  /** The lease by which other processes know that this one is alive. */
  readonly lease: ProcessLease;
}

/** The service's keys and its trust in issuers. */
interface IssuerPart {
  readonly issuer: OwnIssuer;
  readonly trust: TrustService;
  readonly registry: Registry;
}

/** Callers and their limits. */
interface CallersPart {
  readonly clients: ClientAddresses;
  readonly callers: Callers;
  readonly freeReads: FreeReads;
}

/** What issuing and verifying receipts share between requests. */
interface IssuingPart {
  /** Runs idempotent requests of one scope one after another. */
  readonly mutex: KeyedMutex;
  readonly verificationQueue: VerificationQueue;
  /** Tenants' receipts that are being issued, for which their exports wait. */
  readonly unstored: Unstored;
}

/** The anchor log and its chain. */
interface LogPart {
  readonly log: AnchorLog;
  /** The public key of the log: 32 bytes. */
  readonly logKey: Uint8Array;
  /** The chain to which roots are posted; null where they are not. */
  readonly chain: Chain | null;
}

/** Payments and prices. */
interface MoneyPart {
  /** The token and the treasury; null with payments off. */
  readonly money: Money | null;
  /** x402; null with payments off. */
  readonly payments: Payments | null;
  /** Sells API keys. */
  readonly keySales: KeySales;
  /** Watches the treasury; null with payments off. */
  readonly treasury: TreasuryService | null;
  /** The prices of now. */
  readonly ladder: () => PriceLadder;
}

/** Models, and the claims by which only one process carries out a call. */
interface InferencePart {
  readonly compute: Compute;
  /** Sends calls to the model that the operator tries out, too. */
  readonly shadows: Shadows;
  /** Claims on `Idempotency-Key`s, so that only one process carries a request out. */
  readonly claims: Claims;
  /** The live lists of calls that are open. */
  readonly tails: Tails;
  /** Ends the model calls under way, see `Compute.endCalls`: for a shutdown that waits no longer. */
  readonly endCalls: () => Promise<void>;
}

/** Status and metrics. */
interface OperationsPart {
  readonly status: StatusService;
  readonly webhooks: WebhookService;
  /** Lets operators in. */
  readonly operators: AdmitOperator;
  /** When this process opened the service, in Unix milliseconds. */
  readonly startedAt: number;
  /** How much waits in each queue of this process, by name. From memory. */
  readonly queues: () => Readonly<Record<string, number>>;
  /** Updates the metrics that are read at intervals, if the database answers within a second. */
  readonly measure: () => Promise<void>;
  /** The answer of `/readyz`, by part: `ok`, or what is wrong. From memory. */
  readonly ready: () => Promise<Record<string, string>>;
}

/** Everything that routes need, as configured. */
export interface Services
  extends Foundation,
    IssuerPart,
    CallersPart,
    IssuingPart,
    LogPart,
    MoneyPart,
    InferencePart,
    OperationsPart {
  /**
   * Takes up the catalogue with its prices, the prices of keys, the keys of providers and the keyring from another configuration. Requests under
   * way end as they began. Changes nothing when it throws.
   */
  readonly reload: (config: Config) => Promise<void>;
  /** Stops the timers and closes the log, the store after its last commit, and the development chain. */
  readonly close: () => Promise<void>;
}
