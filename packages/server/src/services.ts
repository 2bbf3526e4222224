import type { Agents, ApiKeys, Callers, ClientAddresses, Tenants } from '@tallystick/callers';
import type { Chain } from '@tallystick/chain';
import type { Money } from '@tallystick/chain/evm';
import type { Compute, FreeReads } from '@tallystick/inference';
import type { OwnIssuer, Registry, TrustService } from '@tallystick/issuers';
import type { KeyedMutex } from '@tallystick/kit';
import type { Claims, ProcessLease } from '@tallystick/ledger';
import type { AnchorLog } from '@tallystick/log';
import type { KeySales, Payments } from '@tallystick/payments';
import type { TreasuryService } from '@tallystick/payments/treasury';
import type { VerificationQueue } from '@tallystick/receipts';
import type { Store } from '@tallystick/store';
import type { Logger } from 'pino';
import type { Config } from './config/config.ts';
import type { Metrics } from './observability/observability.ts';
import type { StatusService } from './status/status.ts';

/** What every part stands on. `clock` gives Unix milliseconds. */
interface Foundation {
  readonly config: Config;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  /** The lease by which other processes see that this one is alive. */
  readonly lease: ProcessLease;
}

/** Who signs, and whom the service trusts. */
interface IssuerPart {
  readonly issuer: OwnIssuer;
  readonly trust: TrustService;
  readonly registry: Registry;
}

/** Who calls, and what that allows. */
interface CallersPart {
  readonly clients: ClientAddresses;
  readonly apiKeys: ApiKeys;
  readonly tenants: Tenants;
  readonly agents: Agents;
  readonly callers: Callers;
  readonly freeReads: FreeReads;
}

/** What issuing and verifying receipts share between requests. */
interface IssuingPart {
  /** Idempotent requests that may not run beside themselves, by their scope. */
  readonly mutex: KeyedMutex;
  readonly verificationQueue: VerificationQueue;
}

/** The anchor log and its chain. */
interface LogPart {
  readonly log: AnchorLog;
  /** The public key of the log: 32 bytes. */
  readonly logKey: Uint8Array;
  /** Where roots are posted; null where they are not. */
  readonly chain: Chain | null;
}

/** What is paid, and how. */
interface MoneyPart {
  /** Where money moves; null with payments off. */
  readonly money: Money | null;
  /** x402; null with payments off. */
  readonly payments: Payments | null;
  /** Keys that are paid for. */
  readonly keySales: KeySales;
  /** What comes to the treasury and leaves it; null with payments off. */
  readonly treasury: TreasuryService | null;
  /** Since when the prices are what they are, in unix seconds. */
  readonly pricesValidFrom: number;
}

/** Models, and the claims that let one process alone carry a call out. */
interface InferencePart {
  readonly compute: Compute;
  /** Claims on `Idempotency-Key`s, so that only one process carries a request out. */
  readonly claims: Claims;
  /** Ends the model calls under way, see `Compute.endCalls`: for a shutdown that waits no longer for them. */
  readonly endCalls: () => Promise<void>;
}

/** How the service is. */
interface OperationsPart {
  readonly status: StatusService;
  /** Brings the metrics up to date that are looked at now and then, as far as the database answers within a second. */
  readonly measure: () => Promise<void>;
  /** What `/readyz` says, by part: `ok`, or what is wrong. From memory. */
  readonly ready: () => Promise<Record<string, string>>;
}

/** Everything that routes work with, wired by the configuration. */
export interface Services
  extends Foundation,
    IssuerPart,
    CallersPart,
    IssuingPart,
    LogPart,
    MoneyPart,
    InferencePart,
    OperationsPart {
  /** Stops the timers and lets go of the log, of the store after its last commit, and of a development chain. */
  readonly close: () => Promise<void>;
}
