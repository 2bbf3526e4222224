import type { JsonObject } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import { type TextPlace, unsupportedMember } from '../protocols/protocol.ts';
import { type Edit, splice } from '../protocols/splice.ts';
import { asText, objectsOf } from '../providers/members.ts';
import type { NativeCall, Provider } from '../providers/provider.ts';
import type { ChatBody } from '../types.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';
import { maxOutputOf } from './output-limit.ts';

/** The members of a request that are this service's own. */
const OWN = ['svc', 'provider', 'cost_quality'];

/**
 * The call as its caller wrote it, if the provider speaks the caller's protocol: with the provider's name of the model,
 * the texts that compression changed, the limit that money was reserved for, and without the service's own members.
 * Undefined if the inner form is to be translated.
 * @param sent the inner body after compression
 * @throws TallyError invalid_request for what would be lost by that
 */
export function nativeCallOf(
  context: Pick<PipelineContext, 'defaultMaxOutput'>,
  request: ChatRequest,
  sent: ChatBody,
  provider: Pick<Provider, 'speaks'>,
  model: Model,
): NativeCall | undefined {
  const { native } = request;
  if (native === null || !provider.speaks.has(native.form.protocol)) return undefined;
  const { form, body, text, headers } = native;
  const texts = form.fits?.(body) === false ? null : changedTexts(request.body, sent, form.textPlaces(body));
  if (texts === null) {
    if (native.only !== null)
      throw unsupportedMember(native.only.member, 'the request cannot be sent as it is, which this needs.');
    return undefined;
  }
  const set: JsonObject = {
    ...form.set,
    model: model.upstreamModel,
    ...(request.keepsItems && model.abilities.has('reasoning') && request.protocol.items?.ask(body)),
    ...(request.maxOutput === null && { [form.limit]: maxOutputOf(context, request, model) }),
  };
  const edits: Edit[] = [
    ...OWN.map((name) => ({ path: [name], value: undefined })),
    ...Object.entries(set).map(([name, value]) => ({ path: [name], value, add: true })),
    ...texts,
  ];
  return { form, text: splice(text(), edits), headers };
}

/** Null if a message differs in more than its texts, or a text has no place. */
function changedTexts(before: ChatBody, after: ChatBody, places: readonly TextPlace[]): Edit[] | null {
  if (before['messages'] === after['messages']) return [];
  const sent = objectsOf(after['messages']);
  const edits: Edit[] = [];
  for (const [index, message] of objectsOf(before['messages']).entries()) {
    for (const [part, text] of changesOf(message, sent[index] ?? {})) {
      const place = places.find((one) => one.message === index && one.part === part);
      if (place === undefined) return null;
      edits.push({ path: place.path, value: text });
    }
  }
  return edits;
}

/** The texts of a message that compression changed, by the index of their part; null for the only text. */
function changesOf(before: JsonObject, after: JsonObject): (readonly [part: number | null, text: string])[] {
  if (before === after) return [];
  const text = asText(after['content']);
  if (text !== null) return text === before['content'] ? [] : [[null, text]];
  const parts = objectsOf(before['content']);
  return objectsOf(after['content']).flatMap((part, index) => {
    const changed = asText(part['text']);
    return changed === null || changed === parts[index]?.['text'] ? [] : [[index, changed] as const];
  });
}
