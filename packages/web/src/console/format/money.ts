/**
 * An amount of USDC as people write it: two decimals from one dollar on, below that four significant digits. It is
 * rounded from decimal text without floating point. An amount that is not zero is never shown as zero.
 * @param exact decimal text, such as `0.068207150`
 * @param rounding half up for what was paid; down for what is there, which is never shown as more
 */
export function shortMoney(exact: string, rounding: 'half up' | 'down' = 'half up'): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)0*(\d*?)(?:\.(\d*))?$/.exec(exact) ?? [];
  if (whole === '' && !/[1-9]/.test(fraction)) return '$0.00';
  const leading = /^0*/.exec(fraction)?.[0].length ?? 0;
  const decimals = whole !== '' ? Math.max(2, 4 - whole.length) : leading + 4;
  const digits = `${whole}${fraction.slice(0, decimals).padEnd(decimals, '0')}`;
  const rest = fraction.slice(decimals);
  const isUp = rounding === 'half up' ? /^[5-9]/.test(rest) : sign === '-' && /[1-9]/.test(rest);
  const rounded = String(BigInt(digits) + (isUp ? 1n : 0n)).padStart(decimals + 1, '0');
  const [before, after] = [rounded.slice(0, -decimals), rounded.slice(-decimals)];
  const kept = after.replace(/0+$/, '').padEnd(2, '0');
  return `${sign === '' ? '' : '−'}$${grouped(before)}.${kept}`;
}

const grouped = (digits: string): string => digits.replace(/\B(?=(?:\d{3})+$)/g, ',');

/** The sum of decimal texts, exact to nine decimals. */
export function sumMoney(amounts: Iterable<string>): string {
  let nano = 0n;
  for (const amount of amounts) nano += nanoOf(amount);
  const digits = String(nano < 0n ? -nano : nano).padStart(10, '0');
  return `${nano < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

function nanoOf(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.');
  const nano = BigInt(whole || '0') * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  return amount.startsWith('-') ? -nano : nano;
}
