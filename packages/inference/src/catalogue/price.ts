import { TallyError } from '@tallystick/core';
import { parseUsdc } from '@tallystick/ledger';
import { type Tariff, type TokenPrices, tariffFor } from '../token-prices.ts';
import type { Price } from './catalogue.ts';
import type { ModelEntry } from './schema.ts';

type PriceEntry = ModelEntry['price'];
type Prices = Pick<PriceEntry, 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_long'>;

/**
 * Reads the prices of a catalogue's entry.
 * @param field path of the price, for errors
 * @throws invalid_field for a tariff that makes a prompt cheaper because it is longer: a reservation for the longest
 * prompt would then not cover a shorter one
 */
export function toPrice(entry: PriceEntry, field: string): Price {
  const { source, tariffs = [] } = entry;
  const base = toPrices(entry, field);
  const read = tariffs.map((one, index): Tariff => {
    const at = `${field}.tariffs[${index}]`;
    return {
      ...toPrices(one, at),
      ...(one.above_tokens !== undefined && { aboveTokens: one.above_tokens }),
      ...(one.service_tier !== undefined && { serviceTier: one.service_tier }),
    };
  });
  const price: Price = {
    ...base,
    ...(read.length > 0 && { tariffs: read }),
    source: source
      ? {
          page: source.page,
          readOn: source.read_on,
          ...(source.copy === true && { copy: true }),
          ...(source.valid_until !== undefined && { validUntil: source.valid_until }),
        }
      : null,
  };
  requireRising(price, field);
  return price;
}

function toPrices(entry: Prices, field: string): TokenPrices {
  const inputPerMTok = parseUsdc(entry.input, `${field}.input`);
  const parse = (name: keyof Prices, otherwise: bigint): bigint =>
    entry[name] === undefined ? otherwise : parseUsdc(entry[name], `${field}.${name}`);
  return {
    inputPerMTok,
    outputPerMTok: parse('output', 0n),
    cacheReadPerMTok: parse('cache_read', inputPerMTok),
    cacheWritePerMTok: parse('cache_write', inputPerMTok),
    ...(entry.cache_write_long !== undefined && { cacheWriteLongPerMTok: parse('cache_write_long', 0n) }),
  };
}

/** Compares, for each class of service, the prices below and above each number of tokens. */
function requireRising(price: Price, field: string): void {
  for (const [index, { aboveTokens, serviceTier }] of (price.tariffs ?? []).entries()) {
    if (aboveTokens === undefined) continue;
    const tier = serviceTier === undefined ? {} : { serviceTier };
    const below = tariffFor(price, { promptTokens: aboveTokens, ...tier });
    const above = tariffFor(price, { promptTokens: aboveTokens + 1, ...tier });
    const at = `${field}.tariffs[${index}]`;
    if (pricesOf(above).some((one, place) => one < (pricesOf(below)[place] ?? 0n)))
      throw new TallyError('invalid_field', `${at}: a longer prompt must not have a cheaper tariff.`, {
        field: at,
      });
  }
}

function pricesOf(prices: TokenPrices): bigint[] {
  const { inputPerMTok, outputPerMTok, cacheReadPerMTok, cacheWritePerMTok } = prices;
  const long = prices.cacheWriteLongPerMTok ?? cacheWritePerMTok;
  return [inputPerMTok, outputPerMTok, cacheReadPerMTok, cacheWritePerMTok, long];
}
