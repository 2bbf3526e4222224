import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Spoken } from './spoken.ts';
import { defaultPieces, type Script } from './upstream-script.ts';

type ProtocolName = Spoken['name'];

/** Something that a request asks for, and how one sees that it got through. */
export interface Feature {
  readonly name: string;
  readonly script: Script;
  readonly stream?: true;
  /** The request's members by protocol; a protocol that is not listed has no such feature. */
  readonly asked: Partial<Record<ProtocolName, JsonObject>>;
  /** What the provider's request must contain. */
  readonly sent: RegExp;
  /** What the caller's answer must contain. */
  readonly answered: RegExp;
}

const said = defaultPieces.join('');
const SAID_TEXT = new RegExp(said.replaceAll('.', String.raw`\.`));
const PNG = 'iVBORw0KGgo';
const PDF = 'JVBERi0xLjQ';
const SCHEMA = {
  type: 'object',
  properties: { notches: { type: 'integer' } },
  required: ['notches'],
  additionalProperties: false,
};
const MARK = { type: 'ephemeral' };
/** The built-in model answers with the sentence. */
const ASK = 'Say it. The ferry leaves at 7:40. When does the ferry leave?';
const text = (value: JsonValue): JsonObject => ({ messages: [{ role: 'user', content: value }] });
const saying = (...parts: JsonObject[]) => text([{ type: 'text', text: ASK }, ...parts]);
const input = (...parts: JsonObject[]): JsonObject => ({
  input: [{ role: 'user', content: [{ type: 'input_text', text: ASK }, ...parts] }],
});

const plain = {
  chat: text(ASK),
  completions: { prompt: ASK },
  responses: { input: ASK },
  messages: text(ASK),
};

export const FEATURES: readonly Feature[] = [
  { name: 'text', script: {}, asked: plain, sent: /Say it\./, answered: SAID_TEXT },
  { name: 'stream', script: {}, stream: true, asked: plain, sent: /Say it\./, answered: SAID_TEXT },
  {
    name: 'tool call',
    script: { toolCalls: [{ id: 'call_1', name: 'weather', pieces: ['{"city":', '"Zürich"}'] }] },
    asked: {
      chat: {
        ...plain.chat,
        tools: [{ type: 'function', function: { name: 'weather', parameters: SCHEMA } }],
      },
      responses: { ...plain.responses, tools: [{ type: 'function', name: 'weather', parameters: SCHEMA }] },
      messages: { ...plain.messages, tools: [{ name: 'weather', input_schema: SCHEMA }] },
    },
    sent: /"weather"/,
    answered: /"weather".*Zürich|Zürich.*"weather"/s,
  },
  {
    name: 'image',
    script: {},
    asked: {
      chat: saying({ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }),
      responses: input({ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PNG}` }),
      messages: saying({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }),
    },
    sent: new RegExp(PNG),
    answered: SAID_TEXT,
  },
  {
    name: 'file',
    script: {},
    asked: {
      chat: saying({
        type: 'file',
        file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
      }),
      responses: input({
        type: 'input_file',
        filename: 'a.pdf',
        file_data: `data:application/pdf;base64,${PDF}`,
      }),
      messages: saying({
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: PDF },
      }),
    },
    sent: new RegExp(PDF),
    answered: SAID_TEXT,
  },
  {
    name: 'JSON schema',
    script: {},
    asked: {
      chat: {
        ...plain.chat,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'tally', strict: true, schema: SCHEMA },
        },
      },
      responses: {
        ...plain.responses,
        text: { format: { type: 'json_schema', name: 'tally', strict: true, schema: SCHEMA } },
      },
      messages: { ...plain.messages, output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
    },
    sent: /notches/,
    answered: SAID_TEXT,
  },
  {
    name: 'reasoning',
    script: { thinking: 'I ponder.' },
    asked: {
      chat: { ...plain.chat, reasoning_effort: 'high' },
      responses: { ...plain.responses, reasoning: { effort: 'high', summary: 'auto' } },
      messages: { ...plain.messages, max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 2048 } },
    },
    sent: /reasoning|thinking|"think"/i,
    answered: /I ponder\./,
  },
  {
    name: 'cache marks',
    script: {},
    asked: {
      chat: text([{ type: 'text', text: ASK, cache_control: MARK }]),
      messages: text([{ type: 'text', text: ASK, cache_control: MARK }]),
    },
    sent: /cache_control|cachePoint/,
    answered: SAID_TEXT,
  },
];

/** A kind of provider. */
export interface Column {
  readonly title: string;
  readonly model: string;
  /** What an answer of the built-in model contains, which is asked for no other. */
  readonly ownAnswer?: RegExp;
}

/** How one feature fares: `passes`, refused with the name of a member, or said in a note. */
export type Verdict =
  | { readonly kind: 'passes' }
  | { readonly kind: 'refused'; readonly code: string; readonly field: string }
  | { readonly kind: 'said'; readonly note: string };

/** The page, from the verdicts by protocol, feature and provider. */
export function pageOf(
  spoken: readonly Spoken[],
  columns: readonly Column[],
  verdict: (protocol: Spoken, feature: Feature, column: Column) => Verdict | null,
): string {
  const notes: string[] = [];
  const cell = (one: Verdict | null): string => {
    if (one === null) return '–';
    if (one.kind === 'passes') return 'passes';
    if (one.kind === 'refused') return `${one.code}: \`${one.field}\``;
    if (!notes.includes(one.note)) notes.push(one.note);
    return `said (${notes.indexOf(one.note) + 1})`;
  };
  const tables = spoken.map((protocol) => {
    const rows = FEATURES.map((feature) => [
      feature.name,
      ...columns.map((column) => cell(verdict(protocol, feature, column))),
    ]);
    return `## ${TITLES[protocol.name]}\n\n${tableOf([['feature', ...columns.map(({ title }) => title)], ...rows])}\n`;
  });
  const list = notes.map((note, index) => `${index + 1}. ${note}\n`).join('');
  return `${HEAD}\n${tables.join('\n')}\n## Said\n\n${list}`;
}

const TITLES: Readonly<Record<ProtocolName, string>> = {
  chat: 'Chat completions',
  completions: 'Legacy completions',
  responses: 'Responses',
  messages: 'Messages',
};

const HEAD = `# Protocols and providers

What becomes of a request in each protocol that callers may speak, at each kind of provider. This page is written by
\`packages/server/test/compute-matrix.test.ts\`, which sends every request through the service to a local server that speaks the
provider's wire format.

- _passes_: the provider's request asks for it, and the caller's answer has it.
- _invalid_request_ or _provider_refused_, with a member: the call is refused with that code and names the member. A call for \`auto\`
  goes to a model that can serve it, if there is one.
- _said_: the call is answered without it. The note says what is missing.
- –: the protocol has no such thing.
`;

/** A Markdown table as the formatter aligns it. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((one, index) => one.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)].join(
    '\n',
  );
}
