import type { Reported, Usage } from '../types.ts';
import { countPrompt } from './token-count.ts';
import { type Counted, doubtsOf } from './usage-check.ts';

/**
 * The billed usage of a call: the provider's count, if it can be true; else ours, for the answer only of what was
 * delivered. The counts of built-in models are believed, since they count here.
 */
export async function usageOf(reported: Reported, call: Counted): Promise<Usage> {
  if (reported === null || reported === 'malformed') {
    const usage = {
      promptTokens: await promptTokens(call),
      completionTokens: await answerTokens(call),
      cachedTokens: 0,
      estimated: true,
    };
    return reported === null ? usage : { ...usage, doubt: { why: 'malformed', claimed: null } };
  }
  if (call.model.builtIn) return reported;
  const { answer, prompt } = await doubtsOf(reported, call);
  const why = answer ?? prompt;
  if (why === null) return reported;
  const { cacheWriteTokens: _written, longWriteTokens: _long, ...uncached } = reported;
  return {
    ...(prompt === null
      ? reported
      : { ...uncached, promptTokens: await promptTokens(call), cachedTokens: 0 }),
    ...(answer !== null && { completionTokens: await answerTokens(call) }),
    estimated: true,
    doubt: { why, claimed: reported },
  };
}

const promptTokens = ({ prompt, model }: Counted): Promise<number> => countPrompt(prompt, model.tokenizer);

async function answerTokens({ delivered }: Counted): Promise<number> {
  return (await delivered?.tokens()) ?? 0;
}
