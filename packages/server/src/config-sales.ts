import { resolve } from 'node:path';
import { parseUsdc } from './compute/ledger/money.ts';
import { matches, parseUrl, type Reader } from './config-reader.ts';
import type { TierPrices } from './payments/keys/prices.ts';
import type { NanoUsdc } from './store/ledger-store.ts';

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

export function readSales(read: Reader, production: boolean): SalesConfig {
  const usdc = (name: string, fallback: string): NanoUsdc =>
    parseUsdc(read.text(name, fallback, { accepts: isUsdc, example: fallback }));
  const block = read.optional('TALLY_TREASURY_FROM_BLOCK', {
    accepts: matches(/^\d{1,12}$/),
    example: '21000000',
  });
  const keyFile = read.optional('TALLY_TREASURY_KEY_FILE', { example: '/etc/tally/treasury.key' });
  return {
    prices: { pro: usdc('TALLY_PRICE_PRO', '29'), scale: usdc('TALLY_PRICE_SCALE', '249') },
    lowBalance: usdc('TALLY_LOW_BALANCE', '1'),
    minWithdrawal: usdc('TALLY_MIN_WITHDRAWAL', '1'),
    fromBlock: block === null ? null : Number(block),
    treasuryKeyFile: keyFile === null ? null : resolve(keyFile),
    mail: readMail(read, production),
  };
}

function readMail(read: Reader, production: boolean): MailConfig | null {
  const url = read.secretUrl('TALLY_SMTP_URL', ['smtp:', 'smtps:'], 'smtps://user:password@mail.example.com');
  const from = read.optional('TALLY_SMTP_FROM', {
    accepts: matches(/^[\w.+-]+@[\w.-]+$/),
    example: 'keys@example.com',
  });
  if ((url === null) !== (from === null)) {
    read.fault('TALLY_SMTP_FROM', 'and TALLY_SMTP_URL must be set together', 'keys@example.com');
  }
  if (url === null || from === null) return null;
  const host = parseUrl(url)?.hostname ?? '';
  return { url, from, requireTls: production && !LOOPBACK.test(host) };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** In whole base units, more than 0. */
function isUsdc(text: string): boolean {
  return /^(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?$/.test(text) && parseUsdc(text) > 0n;
}
