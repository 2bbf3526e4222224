import { type JsonObject, TallyError } from '@tallystick/core';
import type { PipelineContext } from '../../pipeline/context.ts';
import { promptOf } from '../../pipeline/token-bound.ts';
import { expectPrompt } from '../../pipeline/token-count.ts';
import { asText } from '../../providers/members.ts';
import { AUTO } from '../../router/auto.ts';
import { innerOf } from './inner.ts';

/**
 * Counts the tokens of a prompt by the tokenizer of the model that it names, as it came: nothing is compressed or routed.
 * @throws model_not_found
 */
export async function countMessageTokens(
  { catalogue, providers }: Pick<PipelineContext, 'catalogue' | 'providers'>,
  request: JsonObject,
): Promise<number> {
  const name = asText(request['model']) ?? AUTO;
  const model = name === AUTO ? null : catalogue.find(name);
  if (model === null && name !== AUTO)
    throw new TallyError(
      'model_not_found',
      `There is no model “${name.slice(0, 80)}”. GET /v1/compute/models lists them.`,
      { field: 'model' },
    );
  const body = innerOf(request);
  const provider = model === null ? undefined : providers.get(model.provider);
  return expectPrompt({ body, prompt: promptOf(body) }, model?.tokenizer ?? 'estimate', provider);
}
