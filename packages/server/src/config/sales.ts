import { resolve } from 'node:path';
import type { NanoUsdc } from '@tallystick/ledger';
import { parseUsdc } from '@tallystick/ledger';
import type { MailConfig, SalesConfig } from '@tallystick/payments';
import { type EnvReader, hasScheme, parseUrl } from './reader.ts';

/** What keys cost: settings that a reload takes up. */
const PRICES = { pro: 'TALLY_PRICE_PRO', scale: 'TALLY_PRICE_SCALE' } as const;
export const KEY_PRICES: readonly string[] = Object.values(PRICES);

export function readSales(read: EnvReader, production: boolean): SalesConfig {
  const usdc = (name: string, fallback: string): NanoUsdc =>
    parseUsdc(read.text(name, fallback, { accepts: isUsdc, example: fallback }));
  const block = read.optional('TALLY_TREASURY_FROM_BLOCK', {
    pattern: /^\d{1,12}$/,
    example: '21000000',
  });
  const keyFile = read.optional('TALLY_TREASURY_KEY_FILE', { example: '/etc/tally/treasury.key' });
  return {
    prices: { pro: usdc(PRICES.pro, '29'), scale: usdc(PRICES.scale, '249') },
    lowBalance: usdc('TALLY_LOW_BALANCE', '1'),
    minWithdrawal: usdc('TALLY_MIN_WITHDRAWAL', '1'),
    fromBlock: block === null ? null : Number(block),
    treasuryKeyFile: keyFile === null ? null : resolve(keyFile),
    mail: readMail(read, production),
  };
}

function readMail(read: EnvReader, production: boolean): MailConfig | null {
  const url = read.secretUrl('TALLY_SMTP_URL', hasScheme('smtp:', 'smtps:'), {
    what: 'a smtp:// or smtps:// URL',
    example: 'smtps://user:password@mail.example.com',
  });
  const from = read.optional('TALLY_SMTP_FROM', {
    pattern: /^[\w.+-]+@[\w.-]+$/,
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
