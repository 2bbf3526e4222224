import { nameOf, print, printJson, readBytes, remark, UsageError } from '@tallystick/cli/toolkit';
import { type ChatMessage, type Compressed, type CompressOptions, compress } from '@tallystick/compress';
import { explanation } from './explanation.ts';

export interface CompressSettings extends CompressOptions {
  readonly explain?: boolean;
  readonly json?: boolean;
}

/** @throws UsageError where the input is not UTF-8, or is JSON without valid messages */
export async function runCompress(path: string, settings: CompressSettings): Promise<void> {
  const { explain = false, json = false, ...options } = settings;
  const input = inputOf(await readText(path), nameOf(path));
  const result = compress(input.messages, options);
  if (json) printJson(result);
  else if (explain) print(explanation(result));
  else {
    print(input.write(result));
    const { tokens_before: before, tokens_after: after, tokenizer } = result.account;
    remark(`${before} tokens before, ${after} after (${tokenizer}).`);
  }
}

interface Input {
  readonly messages: readonly ChatMessage[];
  /** Formats the result like the input. */
  readonly write: (result: Compressed) => string;
}

function inputOf(text: string, name: string): Input {
  const value = jsonOf(text);
  if (isObject(value) && 'messages' in value) {
    const messages = messagesOf(value['messages'], name);
    return { messages, write: (result) => JSON.stringify({ ...value, messages: result.messages }) };
  }
  if (Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && 'role' in item))
    return { messages: messagesOf(value, name), write: (result) => JSON.stringify(result.messages) };
  return {
    messages: [{ role: 'tool', content: text }],
    write: ({ messages: [message] }) => (typeof message?.content === 'string' ? message.content : ''),
  };
}

/** Not the strict reader: a tool's result may be any JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messagesOf(value: unknown, name: string): ChatMessage[] {
  const isMessage = (item: unknown): item is ChatMessage =>
    isObject(item) && typeof item['role'] === 'string';
  if (Array.isArray(value) && value.every(isMessage)) return value;
  throw new UsageError(`${name}: messages is a list of objects with a role.`);
}

async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readBytes(path));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`${nameOf(path)} is not UTF-8.`, { cause: error });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
