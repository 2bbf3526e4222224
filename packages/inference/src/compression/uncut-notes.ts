import type { JsonObject } from '@tallystick/core';
import type { Logger } from 'pino';
import type { ToCompress } from '../pipeline/compressor-interface.ts';
import { type Conversations, conversationOf, glimpseOf, sentNow } from './conversations.ts';

export interface Conversation extends ToCompress {
  readonly messages: readonly JsonObject[];
  /** Number of messages that were sent in an earlier call. */
  readonly sent: number;
}

export function nameOf({ messages, session }: Conversation): string {
  return conversationOf(messages, session);
}

/** Most conversations of which this process remembers that their note is stored. */
const MAX_KNOWN = 10_000;

/**
 * Stores, after the call has gone on, that a conversation is sent uncut, so that a later call does not cut what a
 * provider may have cached. Once for each conversation and tier, as far as this process remembers.
 */
export class UncutNotes {
  readonly #conversations: Conversations;
  readonly #logger: Pick<Logger, 'warn'>;
  /** The tier that was stored for a conversation, the oldest first. */
  readonly #known = new Map<string, string>();
  /** The newest write that has not ended, by the id of its conversation. */
  readonly #writing = new Map<string, Promise<void>>();

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
    // Of two notes for one conversation the store keeps the first, so they are written in the order of their calls.
    const written = (this.#writing.get(key) ?? Promise.resolve())
      .then(() => this.#write(conversation))
      .catch((error: unknown) =>
        this.#logger.warn({ err: error }, 'the form of a prompt was not written down'),
      )
      .finally(() => {
        if (this.#writing.get(key) === written) this.#writing.delete(key);
      });
    this.#writing.set(key, written);
  }

  /** Resolves once the notes of this process about a conversation are stored, or could not be. */
  async written(conversation: Conversation): Promise<void> {
    await this.#writing.get(keyOf(conversation));
  }

  /** Forgets that a note was stored. */
  forget(conversation: Conversation): void {
    this.#known.delete(keyOf(conversation));
  }

  /** Resolves once all is written. */
  async close(): Promise<void> {
    await Promise.all(this.#writing.values());
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
