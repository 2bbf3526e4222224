import type { Model } from '../catalogue/catalogue.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';

type Limits = Pick<PipelineContext, 'defaultMaxOutput'>;

/** The output tokens of one choice that money is put aside for. */
export function maxOutputOf({ defaultMaxOutput }: Limits, request: ChatRequest, model: Model): number {
  return Math.min(request.maxOutput ?? defaultMaxOutput, model.maxOutput);
}

/** The output tokens of all choices that a model was asked for at most. */
export function askedOutput(context: Limits, request: ChatRequest, model: Model): number {
  return (request.maxOutput ?? maxOutputOf(context, request, model)) * request.choices;
}
