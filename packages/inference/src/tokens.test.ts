import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTokens, TokenTally } from './tokens.ts';

const words = fc.array(fc.constantFrom('tally', ' stick', '\n', 'Grüße ', '木', '🌍', ' '.repeat(300)));
const pieces = fc.array(
  fc.oneof(
    words.map((all) => all.join('')),
    fc.string({ unit: 'grapheme' }),
  ),
);

describe('the tokens of a text that comes in pieces', () => {
  it('are those of the whole, wherever it is counted in between', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 1, max: 5 }), async (all, every) => {
        const tally = new TokenTally('o200k');
        for (const [index, piece] of all.entries()) {
          tally.add(piece);
          if (index % every === 0) await tally.settle();
        }
        expect(await tally.tokens()).toBe(await countTokens([all.join('')], 'o200k'));
        expect(await tally.tokens()).toBe(await countTokens([all.join('')], 'o200k'));
      }),
    );
  });

  it('are counted before much is held', async () => {
    const tally = new TokenTally('o200k');
    for (let added = 0; !tally.isFull; added += 1) {
      expect(added).toBeLessThan(2_000);
      tally.add('tally '.repeat(10));
    }
    await tally.settle();
    expect(tally.isFull).toBe(false);
  });
});
