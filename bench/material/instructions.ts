import { compress, tokenizerFor } from '@tallystick/compress';
import { generator } from '../../packages/compress/test/quality/random.ts';
import { type Style, styles } from '../../packages/compress/test/survival/instructions.ts';
import { BUDGETS } from '../quality/document.ts';
import { interval, mean } from '../quality/statistics.ts';
import type { MaterialFile } from './files.ts';
import type { MaterialRow } from './rows.ts';

const groups: Readonly<Record<string, (style: Style) => boolean>> = {
  'rules in the user’s message': (style) => !style.startsWith('examples') && style !== 'headings',
  'labelled examples in the user’s message': (style) => style.startsWith('examples'),
  'headings in the user’s message': (style) => style === 'headings',
};

const QUESTION = 'What follows from this for the last case?';

/**
 * Puts instructions before material of others in a user's message: the share of prompts that keep every one of
 * their instructions to the character.
 */
export function instructionsKept(files: readonly MaterialFile[]): MaterialRow[] {
  const names = Object.keys(styles) as Style[];
  return Object.entries(groups).map(([kind, isIn]) => {
    const own = names.filter(isIn);
    const asked = files.map((file, i) => ({ file, style: own[i % own.length]!, seed: i }));
    const outcomes = BUDGETS.map((budget) =>
      asked.map(({ file, style, seed }) => {
        const { text, needed } = styles[style](generator(seed));
        const value = Number(
          isWhole(`${text}\n\n\`\`\`text\n${file.text}\n\`\`\`\n\n${QUESTION}`, needed, budget),
        );
        return { cluster: file.source, value };
      }),
    );
    return {
      kind,
      sources: new Set(files.map(({ source }) => source)).size,
      cases: asked.length,
      tiers: [
        {
          tier: 'extractive',
          kept: outcomes.map(mean),
          kept_ci95: outcomes.map((one) => interval(one, 'instructions')),
          over_budget: BUDGETS.map(() => 0),
        },
      ],
      minus_lines: [],
      minus_lines_ci95: [],
    };
  });
}

function isWhole(content: string, needed: readonly string[], budget: number): boolean {
  const messages = [{ role: 'user', content }];
  const out = compress(messages, { tier: 'extractive', budget, tokenizer: tokenizerFor() }).messages;
  const sent = typeof out[0]?.content === 'string' ? out[0].content : '';
  return [...needed, QUESTION].every((one) => sent.includes(one));
}
