import { z } from '@hono/zod-openapi';
import { callMembers } from '../../pipeline/call-members.ts';

const MAX_LIMIT = 1_000_000;
const MAX_MESSAGES = 10_000;

const cacheControl = z
  .looseObject({})
  .nullish()
  .describe('A prompt-cache mark. It passes to providers that know it.');

const textBlock = z.looseObject({
  type: z.literal('text').describe('A text.'),
  text: z.string().describe('The text itself.'),
  cache_control: cacheControl,
});

const imageBlock = z.looseObject({
  type: z.literal('image').describe('An image.'),
  source: z
    .looseObject({ type: z.string().describe('`base64` or `url`.') })
    .describe('The image as base64 (`media_type`, `data`), or its `url`.'),
  cache_control: cacheControl,
});

const documentBlock = z.looseObject({
  type: z.literal('document').describe('A document.'),
  source: z
    .looseObject({ type: z.string().describe('`base64`, `text` or `url`.') })
    .describe('The document as base64 or text (`media_type`, `data`), or its `url`.'),
  cache_control: cacheControl,
});

const toolUseBlock = z.looseObject({
  type: z.literal('tool_use').describe('A tool that the assistant called.'),
  id: z.string().describe('The id that the tool’s result names in `tool_use_id`.'),
  name: z.string().describe('The name of the tool.'),
  input: z.looseObject({}).describe('Its arguments.'),
  cache_control: cacheControl,
});

const thinkingBlocks = [
  z.looseObject({
    type: z.literal('thinking').describe('Earlier thinking of the model.'),
    thinking: z.string().describe('Its text.'),
    signature: z.string().describe('The model’s own signature of it.'),
  }),
  z.looseObject({
    type: z.literal('redacted_thinking').describe('Earlier thinking of the model that is encrypted.'),
    data: z.string().describe('The encrypted text.'),
  }),
] as const;

const resultTypes: ReadonlySet<string> = new Set(['text', 'image', 'document']);
const blockTypes: ReadonlySet<string> = new Set([
  ...resultTypes,
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
]);

/** A block of a type that is only passed on to providers that speak this API. */
const otherBlock = (known: ReadonlySet<string>) =>
  z.looseObject({
    type: z
      .string()
      .refine((type) => !known.has(type), 'malformed block of this type')
      .describe('Any other type of Anthropic’s, which only a provider that speaks this API takes.'),
  });

const toolResultBlock = z.looseObject({
  type: z.literal('tool_result').describe('The result of a tool.'),
  tool_use_id: z.string().describe('The id of the call.'),
  content: z
    .union([z.string(), z.array(z.union([textBlock, imageBlock, documentBlock, otherBlock(resultTypes)]))])
    .optional()
    .describe('What the tool returned: a text, or blocks.'),
  is_error: z.boolean().optional().describe('Whether the tool failed.'),
  cache_control: cacheControl,
});

const block = z.union([
  textBlock,
  imageBlock,
  documentBlock,
  toolUseBlock,
  toolResultBlock,
  ...thinkingBlocks,
  otherBlock(blockTypes),
]);

const message = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']).describe('Whose turn it is.'),
  content: z.union([z.string(), z.array(block)]).describe('A text, or blocks.'),
});

const tool = z.union([
  z.looseObject({
    type: z.literal('custom').nullish().describe('`custom`, or nothing: a tool of the caller’s own.'),
    name: z.string().describe('The name of the tool.'),
    description: z.string().optional().describe('What the tool does.'),
    input_schema: z.looseObject({}).describe('The JSON schema of its arguments.'),
    cache_control: cacheControl,
  }),
  otherBlock(new Set(['custom'])),
]);

const toolChoice = z.union([
  z.looseObject({
    type: z.enum(['auto', 'any']).describe('Whether a tool may be called, or must be.'),
    disable_parallel_tool_use: z.boolean().optional().describe('Whether at most one tool is called.'),
  }),
  z.looseObject({
    type: z.literal('tool').describe('One tool must be called.'),
    name: z.string().describe('Its name.'),
    disable_parallel_tool_use: z.boolean().optional().describe('Whether it is called at most once.'),
  }),
  z.looseObject({ type: z.literal('none').describe('No tool may be called.') }),
]);

const outputFormat = z
  .looseObject({
    type: z.literal('json_schema').describe('Always this.'),
    schema: z.looseObject({}).describe('The JSON schema that the answer fits.'),
  })
  .nullish();

/** The members of a prompt, whose tokens can be counted too. */
const promptMembers = {
  messages: z
    .array(message)
    .min(1)
    .max(MAX_MESSAGES)
    .describe('The conversation so far, the oldest turn first.'),
  system: z
    .union([z.string(), z.array(textBlock)])
    .optional()
    .describe('Instructions: a text, or text blocks.'),
  tools: z.array(tool).max(512).optional().describe('Tools that the model may call.'),
  tool_choice: toolChoice.optional().describe('Whether and which tools are called.'),
  thinking: z
    .looseObject({
      type: z.string().describe('`enabled`, `adaptive` or `disabled`.'),
      budget_tokens: z.int().min(1).max(MAX_LIMIT).optional().describe('The most tokens of thinking.'),
    })
    .nullish()
    .describe('Whether the model thinks before it answers.'),
  output_config: z
    .looseObject({
      effort: z.string().nullish().describe('How much effort the model makes, such as `low` or `high`.'),
      format: outputFormat.describe('The form of the answer.'),
    })
    .nullish()
    .describe('The effort, and the form of the answer.'),
};

/** A Messages request of Anthropic's API. */
export const messagesRequestSchema = z
  .looseObject({
    ...callMembers,
    ...promptMembers,
    max_tokens: z
      .int()
      .min(1)
      .max(MAX_LIMIT)
      .describe('The most tokens of the answer; what the call may cost is put aside by it.'),
    stream: z
      .boolean()
      .nullish()
      .describe('Whether the answer comes as server-sent events. False when absent.'),
    stop_sequences: z.array(z.string()).max(8_191).nullish().describe('Texts at which the model stops.'),
    temperature: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .describe('How freely the model chooses its words: 0 for the likeliest ones.'),
    top_p: z.number().min(0).max(1).nullish().describe('Share of the likeliest tokens that are chosen from.'),
    top_k: z.int().min(0).nullish().describe('Number of the likeliest tokens that are chosen from.'),
    metadata: z
      .looseObject({ user_id: z.string().nullish().describe('An id of the caller’s own user.') })
      .nullish()
      .describe('About the request.'),
    service_tier: z.string().nullish().describe('`auto` or `standard_only`.'),
  })
  .openapi('MessagesRequest', {
    description:
      'As Anthropic takes it. Members that are not listed here pass to providers that speak this API; for the others spec/compute.md says which are refused.',
  });

/** A request to count the tokens of a prompt. */
export const countTokensSchema = z
  .looseObject({ model: callMembers.model, ...promptMembers })
  .openapi('CountTokensRequest', { description: 'The prompt of a Messages request.' });
