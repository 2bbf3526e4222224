import { hash } from 'node:crypto';
import type { JsonObject } from '@tallystick/core';
import type { CompressionStore, Note } from '../compression-store.ts';
import { contentsOf } from './messages.ts';
import type { RequestTier } from './options.ts';

/** How long it is remembered in what form a conversation was sent: as long as a provider's cache lives, at most. */
const KEPT_SECONDS = 86_400;

/** In what form a conversation went out. */
export interface SentMessages {
  /** Messages before this index went out as they came. */
  readonly plain: number;
  /** Where what might be cut begins, and where it ends again, by turns: ascending indexes of messages. */
  readonly switches: readonly number[];
  /** Messages before this index went out in a prompt that was cut because no model reads it otherwise. */
  readonly fitted: number;
}

/** What is remembered of a conversation. */
export interface ConversationState {
  /** Null where it is not known. */
  readonly sent: SentMessages | null;
  /** Of its blocks, by their ids. */
  readonly blocks: ReadonlyMap<string, string>;
}

/** What no block is named. */
const SENT = 'forms';
/** An index after every message. */
const ALL = Number.MAX_SAFE_INTEGER;
/** Where all of a conversation may be cut, so that a model reads it. */
export const FITTED: SentMessages = { plain: 0, switches: [0], fitted: ALL };

/**
 * The name of a conversation: a hash of how it begins, up to what the user first says, and of the session that the
 * caller names. Where two conversations begin alike, the provider's cache is theirs together too.
 */
export function conversationOf(messages: readonly JsonObject[], session: string | null): string {
  const first = messages.findIndex(({ role }) => role === 'user');
  return hash('sha256', JSON.stringify([session, messages.slice(0, first + 1)]));
}

/**
 * In what form a conversation goes out now. What went out stays as it is, since a provider's cache holds it; the tier is
 * that of what is new. `off` holds for all of it: the caller wants its own words.
 */
export function sentNow(tier: RequestTier, before: SentMessages | null, sent: number): SentMessages {
  if (tier === 'off') return { plain: ALL, switches: [], fitted: 0 };
  const switches = (before?.switches ?? []).filter((index) => index < sent);
  if (isCutAt(switches, sent) !== (tier === 'extractive')) switches.push(before === null ? 0 : sent);
  return { plain: Math.min(before?.plain ?? 0, sent), switches, fitted: Math.min(before?.fitted ?? 0, sent) };
}

/** Whether the message at an index might be cut when it first went out. */
export function isCutAt(switches: readonly number[], index: number): boolean {
  return switches.filter((from) => from <= index).length % 2 === 1;
}

const GLIMPSE = 64;

/** A name that is had for less, and that two conversations may share: good for what may be missed. */
export function glimpseOf(messages: readonly JsonObject[], session: string | null): string {
  const parts = [session ?? ''];
  for (const { role, content } of messages) {
    for (const text of contentsOf(content))
      parts.push(`${text.length}`, text.slice(0, GLIMPSE), text.slice(-GLIMPSE));
    if (role === 'user') break;
  }
  return parts.join('\n');
}

/** What is remembered of each caller's conversations, in the store. */
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

  /** Answers what stands there then, of the blocks: what another process wrote first, where one did. */
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
