import { describe, expect, test } from 'vitest';
import { compress } from '../compress.ts';
import { unitsOf } from './units.ts';

const body =
  'Boats leave at eight. They return at ten, unless the wind is strong. Bicycles travel without a charge. Dogs are kept on a lead.';

/** The texts of what a unit of prose stands under, from the nearest up. */
function above(text: string, part: string): string[] {
  const units = unitsOf('prose', text);
  const found: string[] = [];
  let unit = units.find(({ start, end }) => text.slice(start, end).includes(part));
  while (unit?.under !== undefined) {
    const { under } = unit;
    unit = units.find(({ start }) => start === under);
    if (unit !== undefined) found.push(text.slice(unit.start, unit.end).trim());
  }
  return found;
}

describe('a heading', () => {
  test.each([
    ['of a manual page', `NAME\n       ferry - a boat\n\nPRICES\n       ${body}\n`, 'PRICES'],
    ['of one in Japanese', `名前\n       ferry - 船\n\n説明\n       ${body}\n`, '説明'],
    [
      'in capitals by itself',
      `FIRST THINGS\n\nNothing.\n\nPRICES AND HOURS\n\n${body}\n`,
      'PRICES AND HOURS',
    ],
    ['that is underlined', `Prices\n======\n\n${body}\n`, 'Prices\n======'],
    ['that is underlined in its paragraph', `Prices\n------\n${body}\n`, 'Prices\n------'],
    ['with a number', `3.2. Prices and hours\n\n${body}\n`, '3.2. Prices and hours'],
  ])('%s stays above its text', (_name, text, heading) => {
    expect(above(text, 'Boats leave')).toStrictEqual([heading]);
  });

  test.each([
    ['marked', `# A\n\nOne.\n\n# B\n\n## C\n\nTwo.\n\n## D\n\n${body}\n`, ['## D', '# B']],
    ['underlined', `A\n***\n\nOne.\n\nB\n***\n\nC\n===\n\nTwo.\n\nD\n===\n\n${body}\n`, ['D\n===', 'B\n***']],
    ['numbered', `1. One\n\nOne.\n\n2. Two\n\n2.1 Three\n\n${body}\n`, ['2.1 Three', '2. Two']],
  ])('that is %s stands under a higher one', (_name, text, headings) => {
    expect(above(text, 'Boats leave')).toStrictEqual(headings);
  });

  test('that is the title of all is not kept with each of the others', () => {
    expect(
      above(`# Ferries\n\nOne.\n\n## Prices\n\nTwo.\n\n## Hours\n\n${body}\n`, 'Boats leave'),
    ).toStrictEqual(['## Hours']);
  });

  test.each([
    ['a short sentence', `It rains.\n\n${body}\n`],
    ['a listing without indentation', `Apples\nPears\nPlums\n\n${body}\n`],
    ['a line of code', `run();\n\n${body}\n`],
  ])('is not %s', (_name, text) => {
    expect(above(text, 'Boats leave')).toStrictEqual([]);
  });
});

test.each([0.5, 0.25, 0.1])(
  'at %s of the tokens, a kept line of a manual page has its own heading',
  (budget) => {
    const names = ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'FILES'];
    const text = names
      .map((name, at) =>
        [
          name,
          ...Array.from(
            { length: 14 },
            (_, i) =>
              `       The berth number ${at * 100 + i} of the harbour belongs to the ferry that leaves\n       at ${i} in the morning, and returns before the evening, if the wind allows.\n`,
          ),
        ].join('\n'),
      )
      .join('\n\n');
    const { messages, account } = compress(
      [
        { role: 'tool', tool_call_id: 'call_1', content: text },
        { role: 'user', content: 'Which ferry has berth number 307?' },
      ],
      { tier: 'extractive', budget },
    );
    const sent = messages[0]?.content as string;
    const at = sent.indexOf('berth number 307');
    expect(at).toBeGreaterThan(0);
    expect(account.tokens_after).toBeLessThanOrEqual(account.tokens_before * budget);
    const last = names
      .map((name) => ({ name, at: sent.lastIndexOf(`${name}\n`, at) }))
      .toSorted((a, b) => b.at - a.at);
    expect(last[0]?.name).toBe('OPTIONS');
  },
);
