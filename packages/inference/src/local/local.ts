import { chatMlTokens } from '../providers/openai.ts';
import { type Provider, ProviderError } from '../providers/provider.ts';
import { embedCard, extractCard } from './cards.ts';
import { extractChat } from './chat.ts';
import { embedTexts } from './embed.ts';

/** The built-in models. Nothing is loaded until the first call of each. */
export function openLocalProvider(): Provider {
  return {
    name: 'local',
    speaks: new Set(),
    templateTokens: chatMlTokens,
    async chat(call) {
      if (call.model !== extractCard.name) throw noModel(call.model);
      return extractChat(call);
    },
    async embed(call) {
      if (call.model !== embedCard.name) throw noModel(call.model);
      return embedTexts(call);
    },
    close: () => Promise.resolve(),
  };
}

function noModel(model: string): ProviderError {
  const message = `There is no built-in model ${model} of that kind.`;
  const error = { message, type: 'invalid_request_error', param: 'model', code: 'model_not_found' };
  return new ProviderError('gone', 'local has no such model', { status: 404, error });
}
