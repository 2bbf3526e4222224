import { z } from '@hono/zod-openapi';
import { callMembers } from '../../pipeline/call-members.ts';

const MAX_ITEMS = 10_000;
const MAX_LIMIT = 1_000_000;

/** Types of a message's parts, and of items, that can be translated to every provider. */
const PARTS: readonly string[] = ['input_text', 'output_text', 'refusal', 'input_image', 'input_file'];
const ITEMS: readonly string[] = ['message', 'function_call', 'function_call_output', 'reasoning'];

const other = (known: readonly string[], what: string) =>
  z.looseObject({
    type: z
      .string()
      .refine((type) => !known.includes(type), { error: 'does not have the members of its type' })
      .describe(what),
  });

const part = z.union([
  z.looseObject({
    type: z.enum(['input_text', 'output_text']).describe('A text.'),
    text: z.string().describe('The text itself.'),
  }),
  z.looseObject({
    type: z.literal('refusal').describe('What the assistant refused.'),
    refusal: z.string().describe('Its words.'),
  }),
  z.looseObject({
    type: z.literal('input_image').describe('An image.'),
    image_url: z.string().min(1).nullish().describe('An https or a data URL.'),
    detail: z.string().nullish().describe('How closely the model looks at it.'),
  }),
  z.looseObject({
    type: z.literal('input_file').describe('A file.'),
    file_data: z.string().nullish().describe('A data URL.'),
    file_url: z.string().nullish().describe('An https URL.'),
    filename: z.string().nullish().describe('Its name.'),
  }),
  other(PARTS, 'Another part of OpenAI’s API, which only its own models take.'),
]);

const content = z.union([z.string(), z.array(part)]);

const text = z.looseObject({ text: z.string().describe('The text itself.') });

const item = z.union([
  z.looseObject({
    type: z.literal('message').optional().describe('A message; also if absent.'),
    role: z.enum(['user', 'assistant', 'system', 'developer']).describe('Whose turn it is.'),
    content: content.describe('A text, or parts.'),
  }),
  z.looseObject({
    type: z.literal('function_call').describe('A function that the assistant called.'),
    call_id: z.string().describe('The id that the output names.'),
    name: z.string().describe('The name of the function.'),
    arguments: z.string().describe('Its arguments as JSON text.'),
  }),
  z.looseObject({
    type: z.literal('function_call_output').describe('What a called function returned.'),
    call_id: z.string().describe('The id of the call.'),
    output: content.describe('A text, or parts.'),
  }),
  z.looseObject({
    type: z.literal('reasoning').describe('Reasoning of an earlier answer, sent back as it came.'),
    summary: z.array(text).describe('Its summary.'),
    content: z.array(text).nullish().describe('Its text.'),
    encrypted_content: z.string().nullish().describe('Its opaque form.'),
  }),
  other(ITEMS, 'Another item of OpenAI’s API, which only its own models take.'),
]);

const flag = z.boolean().nullish();

/** A request of OpenAI's Responses API. Members that are not named here go only to a provider with the same API. */
export const responsesRequestSchema = z
  .looseObject({
    ...callMembers,
    input: z
      .union([z.string(), z.array(item).min(1).max(MAX_ITEMS)])
      .describe('A text of the user, or the conversation so far as items, the oldest first.'),
    instructions: z.string().nullish().describe('Instructions that stand before the conversation.'),
    stream: flag.describe('Whether the answer comes as server-sent events. False when absent.'),
    max_output_tokens: z
      .int()
      .min(1)
      .max(MAX_LIMIT)
      .nullish()
      .describe(
        'The most tokens of the answer, reasoning included; what the call may cost is put aside by it.',
      ),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullish()
      .describe('How freely the model chooses its words: 0 for the likeliest ones.'),
    top_p: z.number().min(0).max(1).nullish().describe('Share of the likeliest tokens that are chosen from.'),
    top_logprobs: z
      .int()
      .min(0)
      .max(20)
      .nullish()
      .describe('For how many of the likeliest tokens at each place the log probability is given.'),
    tools: z
      .array(
        z.looseObject({
          type: z.string().describe('`function`; other types are for models of providers with the same API.'),
          name: z.string().optional().describe('The name of the function.'),
        }),
      )
      .max(512)
      .nullish()
      .describe('Tools that the model may call.'),
    tool_choice: z
      .union([
        z.enum(['auto', 'none', 'required']),
        z.looseObject({ type: z.string().describe('`function`, `allowed_tools` or another type of tool.') }),
      ])
      .nullish()
      .describe('Whether, and which, tool is called.'),
    parallel_tool_calls: flag.describe('Whether several tools may be called at once.'),
    text: z
      .looseObject({
        format: z
          .union([
            z.looseObject({
              type: z.literal('json_schema').describe('JSON that fits a schema.'),
              name: z.string().describe('Name of the schema.'),
              schema: z.looseObject({}).describe('The JSON Schema.'),
            }),
            z.looseObject({
              type: z.enum(['text', 'json_object']).describe('Text, or any JSON object.'),
            }),
          ])
          .nullish()
          .describe('The form of the answer.'),
        verbosity: z.string().nullish().describe('How detailed the answer is.'),
      })
      .nullish()
      .describe('How the answer is written.'),
    reasoning: z
      .looseObject({
        effort: z.string().nullish().describe('How long the model reasons.'),
        summary: z
          .string()
          .nullish()
          .describe(
            'Whether reasoning comes as a summary. If absent, the text of reasoning comes as content.',
          ),
      })
      .nullish()
      .describe('How the model reasons.'),
    include: z
      .array(z.string())
      .nullish()
      .describe(
        'What else the answer says: `reasoning.encrypted_content`, `message.output_text.logprobs`. Others concern tools of OpenAI.',
      ),
    store: flag.describe(
      'False: no item of the answer is kept. When absent likewise, except that items of answers to the AI SDK, which refers to them, are kept for a day, encrypted with their own ids. True is refused.',
    ),
    previous_response_id: z
      .string()
      .nullish()
      .describe('Refused: conversations are not kept. Send the whole one.'),
    conversation: z
      .union([z.string(), z.looseObject({})])
      .nullish()
      .describe('Refused: conversations are not kept.'),
    background: flag.describe('True is refused: an answer is not kept to be asked for later.'),
  })
  .openapi('ResponsesRequest', {
    description:
      'As OpenAI’s Responses API takes it, without what would have to be kept between calls. Members that are not listed here go only to a provider with the same API.',
  });
