import {
  type CallToolResult,
  fromJsonSchema,
  type McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** One red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** No samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const textOf = (text: string) => ({ type: 'text' as const, text });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const said = (...content: CallToolResult['content']): CallToolResult => ({ content });
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Sends a request to the client on the stream of the call that it is part of: there is no other. */
const onStreamOf = ({ id }: { readonly id: string | number }) => ({ relatedRequestId: id });

/** What @modelcontextprotocol/conformance expects of a server besides its own tools. */
export function addConformanceFixture(server: McpServer): void {
  server.server.registerCapabilities({ logging: {}, resources: { subscribe: true }, completions: {} });
  addContentTools(server);
  addTalkingTools(server);
  addElicitations(server);
  addResources(server);
  addPrompts(server);
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.server.setRequestHandler('completion/complete', () => ({ completion: { values: [] } }));
}

function addContentTools(server: McpServer): void {
  const tool = (name: string, result: CallToolResult) =>
    server.registerTool(name, { description: name }, () => result);
  const resource = (uri: string, mimeType: string, text: string) => ({
    type: 'resource' as const,
    resource: { uri, mimeType, text },
  });
  const mixed = resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}');
  tool('test_simple_text', said(textOf('This is a simple text response for testing.')));
  tool('test_image_content', said(image));
  tool('test_audio_content', said({ type: 'audio', data: WAV, mimeType: 'audio/wav' }));
  tool(
    'test_embedded_resource',
    said(resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  );
  tool('test_multiple_content_types', said(textOf('Multiple content types test:'), image, mixed));
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Tool with JSON Schema 2020-12 features',
      inputSchema: fromJsonSchema({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
        },
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
        additionalProperties: false,
      }),
    },
    () => said(textOf('done')),
  );
}

function addTalkingTools(server: McpServer): void {
  server.registerTool('test_tool_with_logging', { description: 'Logs' }, async ({ mcpReq }) => {
    for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', step);
      await pause();
    }
    return said(textOf('done'));
  });
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Tells its progress' },
    async ({ mcpReq }) => {
      const { _meta: meta } = mcpReq;
      const progressToken = meta?.progressToken ?? 0;
      for (const progress of [0, 50, 100]) {
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
        await pause();
      }
      return said(textOf('done'));
    },
  );
  server.registerTool(
    'test_sampling',
    { description: 'Asks the client’s model', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const messages = [{ role: 'user' as const, content: textOf(prompt) }];
      const { content } = await mcpReq.requestSampling({ messages, maxTokens: 100 }, onStreamOf(mcpReq));
      return said(textOf(`LLM response: ${JSON.stringify(content)}`));
    },
  );
}

type Form = Parameters<Parameters<Parameters<McpServer['registerTool']>[2]>[1]['mcpReq']['elicitInput']>[0];

function addElicitations(server: McpServer): void {
  const ask = (name: string, properties: object, required: string[] = []) =>
    server.registerTool(
      name,
      { description: 'Asks the user', inputSchema: z.looseObject({}) },
      async (_, { mcpReq }) => {
        const form = { message: 'Please', requestedSchema: { type: 'object', properties, required } } as Form;
        return said(
          textOf(`User response: ${JSON.stringify(await mcpReq.elicitInput(form, onStreamOf(mcpReq)))}`),
        );
      },
    );
  const string = { type: 'string' };
  ask('test_elicitation', { username: string, email: string }, ['username', 'email']);
  ask('test_elicitation_sep1034_defaults', {
    name: { ...string, default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { ...string, enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  });
  const options = ['option1', 'option2', 'option3'];
  const titled = ['First', 'Second', 'Third'].map((title, index) => ({ const: `value${index + 1}`, title }));
  ask('test_elicitation_sep1330_enums', {
    untitledSingle: { ...string, enum: options },
    titledSingle: { ...string, oneOf: titled },
    legacyEnum: { ...string, enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { ...string, enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  });
}

function addResources(server: McpServer): void {
  const plain = { mimeType: 'text/plain', description: 'A text' };
  server.registerResource('static-text', 'test://static-text', plain, ({ href }) => ({
    contents: [
      { uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
    ],
  }));
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, {}, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }],
  }));
}

function addPrompts(server: McpServer): void {
  const user = <Content>(content: Content) => ({ role: 'user' as const, content });
  const description = 'A prompt';
  server.registerPrompt('test_simple_prompt', { description }, () => ({
    messages: [user(textOf('This is a simple prompt for testing.'))],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description, argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => ({
      messages: [user(textOf(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => ({
      messages: [
        user({ type: 'resource' as const, resource: { uri, mimeType: 'text/plain', text: 'Embedded.' } }),
        user(textOf('Please process the embedded resource above.')),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description }, () => ({
    messages: [user(image), user(textOf('Please analyze the image above.'))],
  }));
}
