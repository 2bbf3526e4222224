import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, objectsOf } from '../providers/members.ts';

/** What a chat template adds to a message, and to the whole. */
const PER_MESSAGE = 8;
const PER_REQUEST = 16;
/** More than providers count for an image or a file of common size. */
const PER_ATTACHMENT = 2_000;

/** The texts of a request that become tokens, and how much else does. */
export interface Prompt {
  readonly texts: readonly string[];
  readonly extraTokens: number;
}

export function promptOf(body: JsonObject): Prompt {
  const texts: string[] = [];
  let extraTokens = PER_REQUEST;
  for (const message of objectsOf(body['messages'])) {
    extraTokens += PER_MESSAGE;
    extraTokens += PER_ATTACHMENT * addContent(texts, message['content']);
    addJson(texts, message['tool_calls']);
  }
  for (const name of ['tools', 'functions', 'response_format']) addJson(texts, body[name]);
  return { texts, extraTokens };
}

/** @returns how many parts are no text */
function addContent(texts: string[], content: JsonValue | undefined): number {
  if (typeof content === 'string') texts.push(content);
  let others = 0;
  for (const part of objectsOf(content)) {
    const text = part['text'] ?? part['refusal'];
    if (typeof text === 'string') texts.push(text);
    else others += 1;
  }
  return others;
}

function addJson(texts: string[], value: JsonValue | undefined): void {
  if (Array.isArray(value) ? value.length > 0 : asObject(value ?? null) !== null)
    texts.push(JSON.stringify(value));
}

/**
 * No fewer than the tokens of the prompt: a token of byte-level byte pair encoding is a byte at least. Costs no
 * more than a look at the text's length.
 */
export function tokenBound({ texts, extraTokens }: Prompt): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), extraTokens);
}

const BYTES_PER_TOKEN = 4;

/** About how many tokens English prose of that bound has. */
export function tokenEstimate(bound: number): number {
  return Math.ceil(bound / BYTES_PER_TOKEN);
}
