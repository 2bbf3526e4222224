import { crc32 } from 'node:zlib';
import type { JsonObject } from '@tallystick/core';
import { signatureProblem } from '../../issuers/test/kms-server.ts';
import { defaultPieces, defaultUsage, type Script, textOf, type Wire } from './upstream-script.ts';
import { parsed } from './upstream-wires.ts';

/** An API key that the server accepts instead of a signature. */
export const BEDROCK_KEY = 'bedrock-api-key-secret';

/** AWS Bedrock's Converse and ConverseStream; it verifies each request's signature. */
export const bedrockWire: Wire = {
  contentType: 'application/vnd.amazon.eventstream',
  isStream: ({ path }) => path.endsWith('/converse-stream'),
  unauthorized({ headers, path, bytes }) {
    if (headers.authorization === `Bearer ${BEDROCK_KEY}`) return null;
    return signatureProblem({ method: 'POST', url: path, headers }, bytes, 'bedrock');
  },
  complete: (script) => ({
    output: { message: { role: 'assistant', content: [...thought(script), ...said(script)] } },
    stopReason: stopReason(script),
    ...converseUsage(script),
    metrics: { latencyMs: 1 },
  }),
  events(script) {
    const { thinking, toolCalls, pieces = defaultPieces } = script;
    const first = thinking === undefined ? 0 : 1;
    const blocks = toolCalls
      ? toolCalls.flatMap(({ id, name, pieces: input }, index) => [
          eventMessage('contentBlockStart', {
            contentBlockIndex: first + index,
            start: { toolUse: { toolUseId: id, name } },
          }),
          ...input.map((text) => delta(first + index, { toolUse: { input: text } })),
          eventMessage('contentBlockStop', { contentBlockIndex: first + index }),
        ])
      : pieces.map((text) => delta(first, { text }));
    const thoughts = [
      delta(0, { reasoningContent: { text: thinking ?? '' } }),
      delta(0, { reasoningContent: { signature: 'c2ln' } }),
      eventMessage('contentBlockStop', { contentBlockIndex: 0 }),
    ];
    return [
      eventMessage('messageStart', { role: 'assistant' }),
      ...(thinking === undefined ? [] : thoughts),
      ...blocks,
      eventMessage('messageStop', { stopReason: stopReason(script) }),
      eventMessage('metadata', { ...converseUsage(script), metrics: { latencyMs: 1 } }),
    ];
  },
  error: ({ message }) => ({ message }),
  errorEvent: (text = 'The server had an error', type = 'internalServerException') =>
    message({ ':message-type': 'exception', ':exception-type': type }, { message: text }),
  garbage: 'this is no message',
};

const delta = (contentBlockIndex: number, piece: JsonObject): Uint8Array =>
  eventMessage('contentBlockDelta', { contentBlockIndex, delta: piece });

function thought({ thinking: text }: Script): JsonObject[] {
  return text === undefined ? [] : [{ reasoningContent: { reasoningText: { text, signature: 'c2ln' } } }];
}

function said(script: Script): JsonObject[] {
  if (!script.toolCalls) return [{ text: textOf(script) }];
  return script.toolCalls.map((call) => ({
    toolUse: { toolUseId: call.id, name: call.name, input: parsed(call) },
  }));
}

function stopReason({ finish, toolCalls }: Script): string {
  if (finish === 'length') return 'max_tokens';
  return toolCalls ? 'tool_use' : 'end_turn';
}

function converseUsage({ usage = defaultUsage, wrongUsage }: Script): JsonObject {
  const { prompt, completion, cached = 0 } = usage;
  const counts = { inputTokens: prompt - cached, outputTokens: completion, totalTokens: prompt + completion };
  return { usage: wrongUsage ?? { ...counts, cacheReadInputTokens: cached, cacheWriteInputTokens: 0 } };
}

function eventMessage(type: string, payload: JsonObject): Buffer {
  return message({ ':message-type': 'event', ':event-type': type }, payload);
}

/** Source: Smithy, Amazon Event Stream Specification; written from it, and not with the library that reads it. */
function message(headers: Readonly<Record<string, string>>, payload: JsonObject): Buffer {
  const head = Buffer.concat(
    Object.entries({ ...headers, ':content-type': 'application/json' }).flatMap(([name, value]) => [
      Buffer.from([name.length]),
      Buffer.from(name),
      // Type 7: text, after its length in two bytes.
      Buffer.from([7, value.length >> 8, value.length & 255]),
      Buffer.from(value),
    ]),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.concat([uint32(16 + head.length + body.length), uint32(head.length)]);
  const unchecked = Buffer.concat([prelude, uint32(crc32(prelude)), head, body]);
  return Buffer.concat([unchecked, uint32(crc32(unchecked))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
