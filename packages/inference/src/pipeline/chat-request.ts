import { z } from '@hono/zod-openapi';
import type { JsonObject, JsonValue } from '@tallystick/core';
import type { CallTags } from '../calls/ended-call.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { type CompressionOptions, readCompression } from '../compression/options.ts';
import { addRetrieveTool } from '../compression/retrieve-tool.ts';
import { chat } from '../protocols/chat.ts';
import type { SpokenProtocol } from '../protocols/protocol.ts';
import { type NativeForm, type Protocol, unsupportedMember } from '../protocols/protocol.ts';
import { asObject } from '../providers/members.ts';
import { AUTO } from '../router/auto.ts';
import type { ProviderPreferences } from '../router/router.ts';
import type { ChatBody } from '../types.ts';
import { type CallMembers, callMembers, readPreferences } from './call-members.ts';
import type { PipelineContext } from './context.ts';

const MAX_CHOICES = 8;
const MAX_LIMIT = 1_000_000;
const MAX_MESSAGES = 10_000;
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

const part = z.union([
  z.looseObject({
    type: z.literal('text').describe('A text.'),
    text: z.string().describe('The text itself.'),
  }),
  z.looseObject({
    type: z.literal('refusal').describe('What the assistant refused.'),
    refusal: z.string().describe('Its words.'),
  }),
  z.looseObject({
    type: z.literal('image_url').describe('An image.'),
    image_url: z
      .looseObject({ url: z.string().min(1).describe('An https or a data URL.') })
      .describe('Where the image is.'),
  }),
  z.looseObject({
    type: z.literal('input_audio').describe('Sound.'),
    input_audio: z.looseObject({}).describe('The sound, as OpenAI takes it.'),
  }),
  z.looseObject({
    type: z.literal('file').describe('A file.'),
    file: z.looseObject({}).describe('The file, as OpenAI takes it.'),
  }),
]);

const toolCall = z.looseObject({
  id: z.string().describe('The id that the tool’s answer names in `tool_call_id`.'),
  function: z
    .looseObject({
      name: z.string().describe('The name of the function.'),
      arguments: z.string().describe('Its arguments as JSON text.'),
    })
    .optional()
    .describe('The function that is called.'),
});

const message = z
  .looseObject({
    role: z.enum(ROLES).describe('Whose turn it is.'),
    content: z
      .union([z.string(), z.array(part).min(1), z.null()])
      .optional()
      .describe('A text, or parts; needed of every role but `assistant`.'),
    tool_calls: z.array(toolCall).nullish().describe('Tools that the assistant called.'),
  })
  .refine(({ role, content }) => role === 'assistant' || (content !== undefined && content !== null), {
    path: ['content'],
    message: 'required for every role except assistant',
  });

const limit = z.int().min(1).max(MAX_LIMIT).nullish();

/** An OpenAI chat completion request: members that are not named here pass to the provider as they are. */
export const chatRequestSchema = z
  .looseObject({
    ...callMembers,
    messages: z
      .array(message)
      .min(1)
      .max(MAX_MESSAGES)
      .describe('The conversation so far, the oldest turn first.'),
    stream: z
      .boolean()
      .nullish()
      .describe('Whether the answer comes as server-sent events. False when absent.'),
    stream_options: z
      .looseObject({
        include_usage: z
          .boolean()
          .nullish()
          .describe('Whether a chunk with `usage` comes before the last one.'),
      })
      .nullish()
      .describe('Of a stream.'),
    n: z.int().min(1).max(MAX_CHOICES).nullish().describe('How many choices are answered. 1 when absent.'),
    max_tokens: limit.describe(
      'The older name of `max_completion_tokens`, which counts where both are given.',
    ),
    max_completion_tokens: limit.describe(
      'The most tokens that each choice may have; what the call may cost is put aside by it.',
    ),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullish()
      .describe('How freely the model chooses its words: 0 for the likeliest ones.'),
    top_p: z.number().min(0).max(1).nullish().describe('Share of the likeliest tokens that are chosen from.'),
    stop: z
      .union([z.string(), z.array(z.string()).max(16)])
      .nullish()
      .describe('Texts at which the model stops.'),
    logprobs: z.boolean().nullish().describe('Whether the answer gives the log probability of each token.'),
    top_logprobs: z
      .int()
      .min(0)
      .max(20)
      .nullish()
      .describe('With `logprobs`: for how many of the likeliest tokens at each place.'),
    tools: z
      .array(z.looseObject({ type: z.string().describe('The kind of tool, such as `function`.') }))
      .max(512)
      .nullish()
      .describe('Tools that the model may call, as OpenAI takes them.'),
    response_format: z
      .looseObject({
        type: z
          .enum(['text', 'json_object', 'json_schema'])
          .describe('Text, any JSON object, or JSON that fits the schema in `json_schema`.'),
      })
      .nullish()
      .describe('The form of the answer.'),
  })
  .openapi('ChatRequest', {
    description: 'As OpenAI takes it. Members that are not listed here pass to the provider as they are.',
  });

/** The parts of a checked request, of any protocol. */
export interface ChatRequest {
  readonly protocol: Protocol;
  /** The request as parsed, which the receipt's request hash covers. */
  readonly raw: JsonObject;
  /** Its inner form, which is sent to a provider, except for its name of the model. */
  readonly body: ChatBody;
  /** The requested model; `auto` if there is none. */
  readonly model: string;
  readonly stream: boolean;
  /** Whether the usage chunk is passed on. */
  readonly includeUsage: boolean;
  readonly choices: number;
  /** Output tokens of one choice, if the caller limits them. */
  readonly maxOutput: number | null;
  readonly preferences: ProviderPreferences;
  /** 0 to 10; null where the caller says nothing. */
  readonly costQuality: number | null;
  readonly session: string | null;
  readonly anchor: boolean;
  /** Whether `svc` of the answer gives routing, compression and billing whole. */
  readonly explain: boolean;
  readonly tags: CallTags | null;
  /** Whether the caller wants prompt and answer kept. */
  readonly keep: boolean | null;
  readonly compression: CompressionOptions;
  /** Whether the client will refer to the items of the answer, which are kept for that. */
  readonly keepsItems: boolean;
  /** The caller's `Authorization`, which items are kept for; empty if there is none. */
  readonly credential: string;
  /** How it is sent to a provider that speaks its protocol; null if it is translated for every provider. */
  readonly native: NativeRequest | null;
}

interface NativeRequest {
  readonly form: NativeForm;
  /** The body, with the items that it refers to. */
  readonly body: JsonObject;
  /** Its JSON text; as it came, unless it refers to items. */
  readonly text: () => string;
  /** The headers that go with it. */
  readonly headers: Readonly<Record<string, string>>;
  /** The member that only such a provider can serve, if there is one. */
  readonly only: { readonly protocol: SpokenProtocol; readonly member: string } | null;
}

/** How a request came. */
interface Arrival {
  readonly protocol: Protocol;
  /** The JSON text of the body. */
  readonly text: () => string;
  /** A header of the request, by its name in lower case. */
  readonly header: (name: string) => string | undefined;
  /** The items that the body refers to, by id, as far as they are kept. */
  readonly items?: ReadonlyMap<string, JsonObject>;
}

/** A chat completion that did not come by itself, such as one that is estimated. */
const TRANSLATED: Arrival = { protocol: chat, text: () => '', header: () => undefined };

/**
 * @param parsed as the protocol's schema has checked it
 * @throws invalid_field for an invalid price; invalid_request for what the protocol or `svc.retrieve` cannot be combined
 * with
 */
export function readChatRequest(
  parsed: CallMembers,
  catalogue: Catalogue,
  { protocol, text, header, items }: Arrival = TRANSLATED,
): ChatRequest {
  const raw = parsed as JsonObject;
  const whole = (items?.size ? protocol.items?.resolved(raw, items) : undefined) ?? raw;
  const { svc: _svc, provider: _provider, cost_quality: _quality, ...given } = whole;
  const { provider, model = AUTO } = parsed;
  const body: ChatBody = { ...protocol.innerOf(given), model };
  const compression = readCompression(parsed.svc, takesTools(catalogue, model));
  const { native: form } = protocol;
  const [member] = form?.nativeOnly(given) ?? [];
  if (compression.retrieve && member !== undefined)
    throw unsupportedMember(member, 'cannot be combined with svc.retrieve.');
  return {
    protocol,
    native:
      form === null || compression.retrieve
        ? null
        : {
            form,
            body: whole,
            text: whole === raw ? text : () => JSON.stringify(whole),
            headers: headersOf(form, header),
            only: member === undefined ? null : { protocol: form.protocol, member },
          },
    raw,
    keepsItems: protocol.items?.expected(raw, header) ?? false,
    credential: header('authorization') ?? '',
    body: compression.retrieve ? addRetrieveTool(body) : body,
    model,
    stream: body['stream'] === true,
    includeUsage: asObject(body['stream_options'])?.['include_usage'] === true,
    choices: asNumber(body['n']) ?? 1,
    maxOutput: asNumber(body['max_completion_tokens']) ?? asNumber(body['max_tokens']),
    preferences: readPreferences(provider),
    costQuality: parsed.cost_quality ?? null,
    session: parsed.svc?.session ?? null,
    anchor: parsed.svc?.anchor ?? false,
    explain: parsed.svc?.explain ?? false,
    tags: parsed.svc?.tags ?? null,
    keep: parsed.svc?.keep ?? null,
    compression,
  };
}

/** The kept items that a request refers to, by id. */
export function referredItems(
  { items }: Pick<PipelineContext, 'items'>,
  parsed: CallMembers,
  { protocol, header }: Pick<Arrival, 'protocol' | 'header'>,
): Promise<ReadonlyMap<string, JsonObject>> {
  return items.find(protocol.items?.idsIn(parsed as JsonObject) ?? [], header('authorization') ?? '');
}

/** The headers that are passed on, each of a plausible size. */
function headersOf({ headers = [] }: NativeForm, header: Arrival['header']): Record<string, string> {
  return Object.fromEntries(
    headers.flatMap((name) => {
      const value = header(name);
      return value !== undefined && /^[\w.,:;=/ -]{1,2000}$/.test(value) ? [[name, value]] : [];
    }),
  );
}

function asNumber(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** Whether one of the candidate models takes tools. */
function takesTools(catalogue: Catalogue, name: string): boolean {
  const named = name === AUTO ? null : catalogue.find(name);
  return (named === null ? catalogue.models : [named]).some(({ abilities }) => abilities.has('tools'));
}
