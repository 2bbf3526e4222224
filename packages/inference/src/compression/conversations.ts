import { hash } from 'node:crypto';
import type { JsonObject } from '@tallystick/core';
import type { CompressionStore, Note } from '../compression-store.ts';
import { contentsOf } from './messages.ts';
import type { RequestTier } from './options.ts';

/** Seconds for which the form of a conversation is remembered: as long as a provider's cache lives at most. */
const KEPT_SECONDS = 86_400;

/** The form in which a conversation was sent. */
export interface SentMessages {
  /** Messages before this index were sent as they came. */
  readonly plain: number;
  /** Ascending indexes of messages at which cutting starts, stops, starts again, and so on. */
  readonly switches: readonly number[];
  /** Messages before this index were sent in a prompt that was cut because it fits no model otherwise. */
  readonly fitted: number;
}

/** What is remembered of a conversation. */
export interface ConversationState {
  /** Null where it is unknown. */
  readonly sent: SentMessages | null;
  /** Notes about its blocks, by block id. */
  readonly blocks: ReadonlyMap<string, string>;
}

/** A key that is no block's id. */
const SENT = 'forms';
/** An index after every message. */
const ALL = Number.MAX_SAFE_INTEGER;
/** The form of a conversation that may be cut anywhere, because it fits no model otherwise. */
export const FITTED: SentMessages = { plain: 0, switches: [0], fitted: ALL };

/**
 * The name of a conversation: a hash of its beginning, up to the first text of the user, and of the session that the
 * caller names. Conversations that begin alike share the provider's cache too.
 */
export function conversationOf(messages: readonly JsonObject[], session: string | null): string {
  const first = messages.findIndex(({ role }) => role === 'user');
  return hash('sha256', JSON.stringify([session, messages.slice(0, first + 1)]));
}

/**
 * The form in which a conversation is sent now. What was sent before keeps its form, since a provider's cache has it;
 * the tier applies to what is new. `off` applies to everything: the caller wants its own words.
 */
export function sentNow(tier: RequestTier, before: SentMessages | null, sent: number): SentMessages {
  if (tier === 'off') return { plain: ALL, switches: [], fitted: 0 };
  const switches = (before?.switches ?? []).filter((index) => index < sent);
  if (isCutAt(switches, sent) !== (tier === 'extractive')) switches.push(before === null ? 0 : sent);
  return { plain: Math.min(before?.plain ?? 0, sent), switches, fitted: Math.min(before?.fitted ?? 0, sent) };
}

/** Whether the message at an index could be cut when it was first sent. */
export function isCutAt(switches: readonly number[], index: number): boolean {
  return switches.filter((from) => from <= index).length % 2 === 1;
}

const GLIMPSE = 64;

/** A name that is cheap to compute and that two conversations may share. It serves only where a mistake does no harm. */
export function glimpseOf(messages: readonly JsonObject[], session: string | null): string {
  const parts = [session ?? ''];
  for (const { role, content } of messages) {
    for (const text of contentsOf(content))
      parts.push(`${text.length}`, text.slice(0, GLIMPSE), text.slice(-GLIMPSE));
    if (role === 'user') break;
  }
  return parts.join('\n');
}

/** What the store remembers of each caller's conversations. */
export class Conversations {
  readonly #store: CompressionStore;
  /** Unix milliseconds. */
  readonly #clock: () => number;

  constructor(store: CompressionStore, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  async recall(account: string, conversation: string): Promise<ConversationState> {
    const notes = await this.#store.recall(account, conversation, this.#seconds());
    const sent = notes.get(SENT);
    notes.delete(SENT);
    return { sent: sent === undefined ? null : (JSON.parse(sent) as SentMessages), blocks: notes };
  }

  /** Stores notes. Returns those of the blocks as they are stored then: as another process wrote them, if it was first. */
  async remember(
    account: string,
    conversation: string,
    sent: { readonly now: SentMessages; readonly before: SentMessages | null },
    blocks: readonly Note[] = [],
  ): Promise<Map<string, string>> {
    const replaces = sent.before === null ? null : JSON.stringify(sent.before);
    const notes = [{ key: SENT, value: JSON.stringify(sent.now), replaces }, ...blocks];
    const now = this.#seconds();
    const time = { now, expiresAt: now + KEPT_SECONDS };
    const standing = await this.#store.remember(account, conversation, notes, time);
    standing.delete(SENT);
    return standing;
  }

  #seconds(): number {
    return Math.floor(this.#clock() / 1000);
  }
}
