/** A message as OpenAI's chat completions accept it. Members that are not named here are kept unchanged. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly ContentPart[] | null;
  readonly [member: string]: unknown;
}

/** A part of a message's content; only `text` parts are ever changed. */
export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly [member: string]: unknown;
}

/** Position of a message's text that may be compressed. */
export interface MessagePart {
  readonly message: number;
  /** Index of the content part, or null where the content is one string. */
  readonly part: number | null;
}

/** Every text of a message's content. */
export function textsOf(message: ChatMessage, index: number): { place: MessagePart; text: string }[] {
  const { content } = message;
  if (typeof content === 'string') return [{ place: { message: index, part: null }, text: content }];
  if (!Array.isArray(content)) return [];
  return (content as readonly ContentPart[]).flatMap((part, at) =>
    typeof part?.text === 'string' ? [{ place: { message: index, part: at }, text: part.text }] : [],
  );
}

/** The texts of a message that are not content but are paid for: tool calls and a refusal. */
export function furtherTexts(message: ChatMessage): string[] {
  const texts: string[] = [];
  if (typeof message.refusal === 'string') texts.push(message.refusal);
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [message];
  for (const call of calls as { function?: unknown; function_call?: unknown }[]) {
    const called = call?.function ?? call?.function_call;
    if (typeof called !== 'object' || called === null) continue;
    const { name, arguments: callArguments } = called as { name?: unknown; arguments?: unknown };
    if (typeof name === 'string') texts.push(name);
    if (typeof callArguments === 'string') texts.push(callArguments);
  }
  return texts;
}

/** Returns `message` with other texts at the given positions; nothing else of it changes. */
export function withTexts(message: ChatMessage, texts: ReadonlyMap<number | null, string>): ChatMessage {
  const whole = texts.get(null);
  if (whole !== undefined) return { ...message, content: whole };
  if (!Array.isArray(message.content)) return message;
  const content = (message.content as readonly ContentPart[]).map((part, at) => {
    const text = texts.get(at);
    return text === undefined ? part : { ...part, text };
  });
  return { ...message, content };
}
