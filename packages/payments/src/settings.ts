import type { ChainSettings } from '@tallystick/chain';
import type { NanoUsdc } from '@tallystick/ledger';
import type { TierPrices } from './keys/prices.ts';

/** How callers can pay, and the account that they pay to. */
export interface PaymentsConfig {
  readonly mode: 'off' | 'x402';
  /** The account that is paid, as configured; null for the development chain's. */
  readonly treasury: string | null;
  /** The contract of USDC on the configured chain, as configured; null for the development chain's. */
  readonly usdc: string | null;
  /** The number of blocks that make a transfer final, including the one that contains it. */
  readonly confirmations: number;
  /** Null for the facilitator in this process, which exists for the development chain only. */
  readonly facilitatorUrl: string | null;
  /** Seconds for which the chain is searched for a settlement that a facilitator reports. */
  readonly waitSeconds: number;
}

/** What is sold for USDC, how keys are delivered, and how money is paid back. */
export interface SalesConfig {
  /** Prices for a month. */
  readonly prices: TierPrices;
  /** Balance below which the response to a paid call mentions it. */
  readonly lowBalance: NanoUsdc;
  readonly minWithdrawal: NanoUsdc;
  /** The first block to read for transfers to the treasury; null for the newest block at the first start. */
  readonly fromBlock: number | null;
  /** Absolute path of the treasury's secp256k1 key, with which the CLI pays out. No server reads it. */
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

/** The part of the service's configuration that the treasury and its commands use. */
export interface TreasurySettings {
  readonly mode: 'development' | 'production';
  /** Absolute path. The development chain stores its address there. */
  readonly dataDir: string;
  /** Public origin of the service, without a trailing slash. */
  readonly apiUrl: string;
  readonly chain: ChainSettings;
  readonly payments: PaymentsConfig;
  readonly sales: SalesConfig;
}
