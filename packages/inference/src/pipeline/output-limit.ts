import type { Model } from '../catalogue/catalogue.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';

type Limits = Pick<PipelineContext, 'defaultMaxOutput'>;

/** The output tokens of one choice for which money is reserved. */
export function maxOutputOf({ defaultMaxOutput }: Limits, request: ChatRequest, model: Model): number {
  return Math.min(request.maxOutput ?? defaultMaxOutput, model.maxOutput);
}

/** The most output tokens of all choices together that a model is asked for. */
export function askedOutput(context: Limits, request: ChatRequest, model: Model): number {
  return (request.maxOutput ?? maxOutputOf(context, request, model)) * request.choices;
}
