import type { ChainSettings } from '@tallystick/chain';
import type { NanoUsdc } from '@tallystick/ledger';
import type { TierPrices } from './keys/prices.ts';

/** How callers pay, and who is paid. */
export interface PaymentsConfig {
  readonly mode: 'off' | 'x402';
  /** The account that is paid, as it was given; null for the development chain's. */
  readonly treasury: string | null;
  /** The contract of USDC on the configured chain, as it was given; null for the development chain's. */
  readonly usdc: string | null;
  /** How many blocks make a transfer certain, the one that holds it among them. */
  readonly confirmations: number;
  /** Null for the facilitator in this process, which only the development chain has. */
  readonly facilitatorUrl: string | null;
  /** How long what a facilitator says is looked for on the chain. */
  readonly waitSeconds: number;
}

/** What is sold for USDC, how it is delivered, and what is paid back. */
export interface SalesConfig {
  /** For a month. */
  readonly prices: TierPrices;
  /** Below it a paid answer says so. */
  readonly lowBalance: NanoUsdc;
  /** Withdrawals are of so much at least. */
  readonly minWithdrawal: NanoUsdc;
  /** The first block that is read for transfers to the treasury; null for the newest at the first start. */
  readonly fromBlock: number | null;
  /** Absolute path of the treasury's secp256k1 key, with which the CLI pays out; no server opens it. */
  readonly treasuryKeyFile: string | null;
  /** Null where no e-mail can be sent. */
  readonly mail: MailConfig | null;
}

export interface MailConfig {
  /** `smtp:` or `smtps:`; it may hold credentials. */
  readonly url: string;
  readonly from: string;
  /** Whether an unencrypted connection is refused. */
  readonly requireTls: boolean;
}

/** What the treasury and its commands are told of the service's configuration. */
export interface TreasurySettings {
  readonly mode: 'development' | 'production';
  /** Absolute path; the development chain says there where it is. */
  readonly dataDir: string;
  /** Public origin of the service, without a trailing slash. */
  readonly apiUrl: string;
  readonly chain: ChainSettings;
  readonly payments: PaymentsConfig;
  readonly sales: SalesConfig;
}
