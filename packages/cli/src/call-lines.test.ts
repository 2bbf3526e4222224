import { describe, expect, it } from 'vitest';
import { callLines } from './call-lines.ts';

const call = {
  model: 'openai/gpt-4o-mini',
  complete: true,
  prompt_tokens: 900,
  completion_tokens: 5,
  cached_tokens: 128,
};
const settlement = { asset: 'USDC', amount: '0.0000063' };

describe('what a call’s receipt says', () => {
  it('is told in lines', () => {
    expect([...callLines({ call, settlement })]).toEqual([
      '',
      '  model        openai/gpt-4o-mini',
      '  tokens       900 in, 5 out, 128 of them cached',
      '  charged      0.0000063 USDC',
    ]);
    const compressed = {
      ...call,
      complete: false,
      tokens_before: 4_000,
      tokens_after: 850,
      saving: '0.0004725',
    };
    expect([...callLines({ call: compressed, settlement })]).toEqual([
      '',
      '  model        openai/gpt-4o-mini, ended early',
      '  tokens       900 in, 5 out, 128 of them cached',
      '  charged      0.0000063 USDC',
      '  compression  4000 tokens of text to 850, which saved 0.0004725 USDC before the share',
    ]);
  });

  it('is nothing for another receipt, and prints no control characters', () => {
    expect([...callLines({ v: 'svc-receipt-v1' })]).toEqual([]);
    expect([...callLines(null)]).toEqual([]);
    expect([...callLines({ call: { ...call, model: 'a\u001b[31mb' } })].join('')).not.toContain('\u001b');
  });
});
