import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, asText, objectsOf } from '../providers/members.ts';

/** Tokens that a chat template adds to each message, and to the whole. */
const PER_MESSAGE = 8;
const PER_REQUEST = 16;
/** More tokens than providers count for an image or a file of common size. */
const PER_ATTACHMENT = 2_000;
/** Parts of messages whose tokens are bounded by their bytes, or by `PER_ATTACHMENT`. */
const BOUNDED: ReadonlySet<JsonValue | undefined> = new Set(['text', 'refusal', 'image_url', 'image']);
/** Tools that the caller defines and runs: nothing of them reaches the model but what the request says. */
const CALLERS_OWN = /^(function|custom|namespace)$/;
/** Tools that the caller runs, and the provider defines. All others may act at the provider. */
const AT_CALLER =
  /^(local_shell|shell|apply_patch|computer|computer_use_preview|tool_search|(bash|computer|memory|text_editor)_\d{8})$/;
/** Those of Anthropic: the model reads their results within the same request, and with them all that it read before. */
const LOOPING = /^(mcp_toolset|tool_search_tool_\w+|(?!browser_|computer_)[a-z_]+_\d{8})$/;
/**
 * The most times that the model reads. Source: Anthropic, Handling stop reasons, `pause_turn`. A use that a tool's `max_uses`
 * forbids has a result to read like any other, so it makes them no fewer.
 */
const MOST_TURNS = 10;
/** More tokens than providers put before a prompt to explain tools or a schema; Anthropic at most 530. */
const PER_TOOLS = 600;
/** More tokens than a provider's definition of a tool that the caller runs; Anthropic's have at most 735 and, before them, 499. */
const PER_DEFINITION = 1_500;

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
  /** Times that the provider may read the prompt within one call, each time with more in it; one when absent. */
  readonly turns?: number;
  /** The most tokens that the provider adds to explain tools and schemas; none when absent. */
  readonly addedTokens?: number;
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
  const defined = typesOf(body).filter((type) => AT_CALLER.test(type)).length;
  return {
    texts,
    reasoning,
    extraTokens,
    isOpen,
    isUnbounded: isOpen && isUnbounded(body),
    ...(loops(body) && { turns: MOST_TURNS }),
    ...(hasTools && { addedTokens: PER_TOOLS + PER_DEFINITION * defined }),
    isShortened,
    hasTools,
  };
}

function typesOf({ tools }: JsonObject): string[] {
  return objectsOf(tools).map(({ type }) => asText(type) ?? '');
}

/** The types of the tools that may act at the provider. */
function acting(body: JsonObject): string[] {
  return typesOf(body).filter((type) => !CALLERS_OWN.test(type) && !AT_CALLER.test(type));
}

/** Whether the provider may read the prompt more than once. */
function loops(body: JsonObject): boolean {
  return objectsOf(body['mcp_servers']).length > 0 || acting(body).some((type) => LOOPING.test(type));
}

function isUnbounded(body: JsonObject): boolean {
  return (
    body['web_search_options'] !== undefined ||
    objectsOf(body['mcp_servers']).length > 0 ||
    acting(body).length > 0 ||
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
