import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, asText, objectsOf } from '../providers/members.ts';

/** Tokens that a chat template adds to each message, and to the whole. */
const PER_MESSAGE = 8;
const PER_REQUEST = 16;
/** More tokens than providers count for an image or a file of common size. */
const PER_ATTACHMENT = 2_000;
/** Parts of messages whose tokens are bounded by their bytes, or by `PER_ATTACHMENT`. */
const BOUNDED: ReadonlySet<JsonValue | undefined> = new Set(['text', 'refusal', 'image_url', 'image']);
/** Tools that the caller runs: they add nothing to the prompt. All others may act at the provider. */
const AT_CALLER =
  /^(function|custom|namespace|local_shell|shell|apply_patch|computer|bash|text_editor|memory|tool_search)/;

/** The texts of a request that become tokens, and the number of other tokens. */
export interface Prompt {
  readonly texts: readonly string[];
  readonly extraTokens: number;
  /** Reasoning of earlier turns, which some providers count. */
  readonly reasoning?: readonly string[];
  /** Whether it has images, speech or files, or lets the provider search: then its tokens cannot be counted here. */
  readonly isOpen?: boolean;
  /** Whether it may have any number of tokens up to the model's context: it holds a file or speech, or lets the provider search. */
  readonly isUnbounded?: boolean;
  /** Whether the provider may leave out parts of it, as the caller asked. */
  readonly isShortened?: boolean;
  /** Whether it has tools or a schema, which providers express in words of their own. */
  readonly hasTools?: boolean;
}

/** The most tokens that a chat template adds to so many messages. */
export function templateBound(messages: number): number {
  return PER_REQUEST + PER_MESSAGE * messages;
}

export function promptOf(body: JsonObject): Prompt {
  const texts: string[] = [];
  const reasoning: string[] = [];
  let extraTokens = PER_REQUEST;
  let attachments = 0;
  for (const message of objectsOf(body['messages'])) {
    extraTokens += PER_MESSAGE;
    attachments += addContent(texts, message['content']);
    // Speech of an earlier turn is referred to by its id.
    if (asObject(message['audio']) !== null) attachments += 1;
    for (const name of ['tool_calls', 'function_call']) addJson(texts, message[name]);
    for (const name of ['name', 'refusal']) addText(texts, message[name]);
    for (const name of ['reasoning_content', 'reasoning']) addText(reasoning, message[name]);
    addJson(reasoning, message['reasoning_details']);
  }
  const before = texts.length;
  for (const name of ['tools', 'functions', 'response_format']) addJson(texts, body[name]);
  const hasTools = texts.length > before;
  extraTokens += PER_ATTACHMENT * attachments;
  const isOpen = attachments > 0 || searches(body);
  const isShortened = (body['context_management'] ?? null) !== null;
  return {
    texts,
    reasoning,
    extraTokens,
    isOpen,
    isUnbounded: isOpen && isUnbounded(body),
    isShortened,
    hasTools,
  };
}

function isUnbounded(body: JsonObject): boolean {
  const acts = ({ type }: JsonObject): boolean => !AT_CALLER.test(asText(type) ?? '');
  return (
    body['web_search_options'] !== undefined ||
    objectsOf(body['mcp_servers']).length > 0 ||
    objectsOf(body['tools']).some(acts) ||
    objectsOf(body['messages']).some(({ content }) =>
      objectsOf(content).some(({ type }) => !BOUNDED.has(type)),
    )
  );
}

/** Whether the provider may add text of its own to the prompt. */
function searches(body: JsonObject): boolean {
  const isForeign = ({ type }: JsonObject): boolean => type !== 'function';
  return (
    body['web_search_options'] !== undefined ||
    objectsOf(body['mcp_servers']).length > 0 ||
    objectsOf(body['tools']).some(isForeign)
  );
}

/** @returns the number of parts that are not text */
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

function addText(texts: string[], value: JsonValue | undefined): void {
  if (typeof value === 'string') texts.push(value);
}

function addJson(texts: string[], value: JsonValue | undefined): void {
  if (Array.isArray(value) ? value.length > 0 : asObject(value ?? null) !== null)
    texts.push(JSON.stringify(value));
}

/**
 * An upper bound of the prompt's tokens: a token of byte-level byte pair encoding is at least one byte. It only reads
 * the texts' lengths.
 */
export function tokenBound({ texts, reasoning = [], extraTokens }: Prompt): number {
  return [...texts, ...reasoning].reduce((sum, text) => sum + Buffer.byteLength(text), extraTokens);
}

const BYTES_PER_TOKEN = 4;

/** The approximate number of tokens of English prose with that bound. */
export function tokenEstimate(bound: number): number {
  return Math.ceil(bound / BYTES_PER_TOKEN);
}
