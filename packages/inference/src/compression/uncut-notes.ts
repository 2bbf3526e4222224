import type { JsonObject } from '@tallystick/core';
import type { Logger } from 'pino';
import type { ToCompress } from '../pipeline/compressor-interface.ts';
import { type Conversations, conversationOf, glimpseOf, sentNow } from './conversations.ts';

/** What a request comes to. */
export interface Conversation extends ToCompress {
  readonly messages: readonly JsonObject[];
  /** How many of the messages went out in an earlier call. */
  readonly sent: number;
}

export function nameOf({ messages, session }: Conversation): string {
  return conversationOf(messages, session);
}

/** Conversations of which this process knows that they are written down, at most. */
const MAX_KNOWN = 10_000;

/**
 * Writes down, behind the back of the call, that a conversation goes out uncut, so that a later call does not cut what a
 * provider may have in its cache. Once a conversation and tier, as far as this process remembers.
 */
export class UncutNotes {
  readonly #conversations: Conversations;
  readonly #logger: Pick<Logger, 'warn'>;
  /** The tier that was written down, the longest known first. */
  readonly #known = new Map<string, string>();
  readonly #writing = new Set<Promise<void>>();

  constructor(conversations: Conversations, logger: Pick<Logger, 'warn'>) {
    this.#conversations = conversations;
    this.#logger = logger;
  }

  note(conversation: Conversation): void {
    const { tier } = conversation.options;
    const key = keyOf(conversation);
    if (this.#known.get(key) === tier) return;
    this.#known.delete(key);
    this.#known.set(key, tier);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    const written = this.#write(conversation)
      .catch((error: unknown) =>
        this.#logger.warn({ err: error }, 'the form of a prompt was not written down'),
      )
      .finally(() => this.#writing.delete(written));
    this.#writing.add(written);
  }

  /** What is written down of the conversation is no longer known. */
  forget(conversation: Conversation): void {
    this.#known.delete(keyOf(conversation));
  }

  /** Resolves once all is written. */
  async close(): Promise<void> {
    await Promise.all(this.#writing);
  }

  async #write(conversation: Conversation): Promise<void> {
    const { account, options, sent } = conversation;
    const name = nameOf(conversation);
    const { sent: before } = await this.#conversations.recall(account, name);
    const now = sentNow(options.tier, before, sent);
    await this.#conversations.remember(account, name, { now, before });
  }
}

function keyOf({ account, messages, session }: Conversation): string {
  return `${account}\n${glimpseOf(messages, session)}`;
}
