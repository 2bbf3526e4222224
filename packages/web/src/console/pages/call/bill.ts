import type { Billing, TokenCounts, TokenPrices } from './documents.ts';

/** A line of the bill. Amounts are whole millionths of a nano-USDC (10^-15 USDC): what one token costs is whole in them. */
interface BillLine {
  readonly title: string;
  readonly about: string;
  readonly amount: bigint;
}

export interface Bill {
  /** They add up to `charge`. */
  readonly lines: readonly BillLine[];
  readonly charge: bigint;
  /** What is paid back to the member after that; 0 where there is nothing. */
  readonly paidBack: bigint;
  /** What the service keeps of the saving. It is part of `charge`. */
  readonly fee: bigint;
}

const PER_NANO = 1_000_000n;

/** The lines of a call's bill. */
export function billOf(billing: Billing): Bill {
  const charge = BigInt(billing.charge.nano) * PER_NANO;
  const lines = (billing.calls ?? [billing]).flatMap(({ usage, price_per_million_tokens: prices }) =>
    tokenLines(usage, prices),
  );
  const { share, saving } = billing;
  const saved = BigInt(saving.nano) * PER_NANO;
  const shared = BigInt(share.nano) * PER_NANO;
  const isMember = share.tier !== 'unregistered';
  if (saved > 0n) {
    lines.push({
      title: 'Text that compression cut',
      about: 'what it would have cost',
      amount: saved,
    });
    if (!isMember) {
      lines.push({ title: 'Your share of the saving', about: `${share.percent} %`, amount: -shared });
    }
  }
  const rest = charge - lines.reduce((sum, { amount }) => sum + amount, 0n);
  if (rest !== 0n) lines.push(restOf(rest));
  return { lines, charge, paidBack: isMember ? shared : 0n, fee: saved - shared };
}

/** Less than a nano-USDC is carried from bill to bill; more is the service's loss. */
function restOf(amount: bigint): BillLine {
  return amount <= -2n * PER_NANO
    ? { title: 'Not charged', about: 'more than was reserved', amount }
    : { title: 'Rounding', about: 'carried between your bills', amount };
}

function tokenLines(usage: TokenCounts, prices: TokenPrices): BillLine[] {
  const read = Math.min(usage.cached_tokens, usage.prompt_tokens);
  const written = Math.min(usage.cache_write_tokens, usage.prompt_tokens - read);
  const long = Math.min(usage.cache_write_long_tokens, written);
  const parts = [
    ['Prompt', usage.prompt_tokens - read - written, prices.input],
    ['Prompt, read from the cache', read, prices.cache_read],
    ['Prompt, written to the cache', written - long, prices.cache_write],
    ['Prompt, kept in the cache for long', long, prices.cache_write_long],
    ['Answer', usage.completion_tokens, prices.output],
  ] as const;
  return parts
    .filter(([title, tokens]) => tokens > 0 || title === 'Prompt' || title === 'Answer')
    .map(([title, tokens, price]) => ({
      title,
      about: `${tokens.toLocaleString('en')} tokens × $${trimmed(price.usdc)} a million`,
      amount: BigInt(tokens) * BigInt(price.nano),
    }));
}

/** An amount in USDC with as many decimals as it has, nine at least, so that amounts stand below each other. */
export function exact(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(16, '0');
  const fraction = digits.slice(-15).replace(/0{1,6}$/, '');
  return `${amount < 0n ? '−' : ''}${digits.slice(0, -15)}.${fraction}`;
}

/** A price without the zeros at its end, with two decimals at least. */
function trimmed(usdc: string): string {
  const [whole = '0', fraction = ''] = usdc.split('.');
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}
