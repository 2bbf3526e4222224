import type { WebhookMessage } from './events.ts';

/** Why a webhook gets nothing: its owner said so, nothing was accepted for days, or the receiver answered 410. */
type DisabledBecause = 'owner' | 'failing' | 'gone';

/** A webhook. Times are Unix milliseconds. */
export interface WebhookRow {
  readonly id: string;
  /** The ledger account, or `tenant:` and the id of a tenant. */
  readonly owner: string;
  readonly url: string;
  /** Names of events, with a space between. */
  readonly events: string;
  /** What `sealSecret` made. */
  readonly secret: string;
  /** The secret before, as it was sealed, and until when messages are signed with it too; null where there was none. */
  readonly previousSecret: string | null;
  readonly previousUntil: number | null;
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly disabledBecause: DisabledBecause | null;
  /** Since when every attempt has failed; null after one that was accepted. */
  readonly failingSince: number | null;
}

/** What of a webhook can be changed. */
export type WebhookChange = Pick<
  WebhookRow,
  'url' | 'events' | 'disabledAt' | 'disabledBecause' | 'failingSince'
>;

type DeliveryState = 'waiting' | 'delivered' | 'failed';

/** One message to one webhook, and what became of it. Times are Unix milliseconds. */
export interface DeliveryRow {
  readonly webhook: string;
  readonly message: string;
  readonly type: string;
  readonly body: string;
  readonly at: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When the next attempt is due; null where there is none. */
  readonly dueAt: number | null;
  readonly lastAt: number | null;
  /** HTTP status of the last answer; null where there was none. */
  readonly status: number | null;
  /** Why the last attempt failed. */
  readonly problem: string | null;
  /** Milliseconds that the last attempt took. */
  readonly took: number | null;
}

/** What an attempt has changed in a delivery. */
export type DeliveryResult = Pick<
  DeliveryRow,
  'webhook' | 'message' | 'state' | 'attempts' | 'dueAt' | 'lastAt' | 'status' | 'problem' | 'took'
>;

/** A place in the list of deliveries, which runs from the newest to the oldest. */
export interface DeliveryPlace {
  /** Unix milliseconds. */
  readonly at: number;
  /** Id of the message. */
  readonly id: string;
}

/** Counts of all webhooks and of the messages to them. */
export interface WebhookCounts {
  readonly webhooks: number;
  readonly disabled: number;
  /** Webhooks in force whose newest attempt failed. */
  readonly failing: number;
  /** Messages that are to be sent, and those of them whose time has come. */
  readonly waiting: number;
  readonly due: number;
}

/** A note of what was told last, so that it is told once. */
export interface WebhookMark {
  readonly name: string;
  /** The value that it must have; null where there must be none. */
  readonly from: string | null;
  readonly to: string;
}

/**
 * Webhooks and their deliveries. Times are Unix milliseconds. Durability, ordering and errors are those of `Store`.
 * Every method that takes an owner sees that owner's webhooks alone.
 */
export interface WebhookStore {
  /** Stores a webhook, unless its owner has `most` already. */
  put(row: WebhookRow, most: number): Promise<'stored' | 'too_many'>;
  get(owner: string, id: string): Promise<WebhookRow | null>;
  /** Newest first. */
  list(owner: string): Promise<WebhookRow[]>;
  /**
   * Replaces members of a webhook by what `of` makes of it. Others who change it wait meanwhile, so that `of` sees what
   * they made of it. It may be called more than once. A webhook that is disabled by it loses what waits. Returns the
   * webhook as it is then; null where there is none.
   */
  change(
    owner: string,
    id: string,
    of: (row: WebhookRow) => Partial<WebhookChange>,
  ): Promise<WebhookRow | null>;
  /**
   * Replaces the secret of a webhook; the one that it has is kept as the one before, until `previousUntil`. Returns the
   * webhook as it is then, or null if there is none.
   */
  rotate(
    owner: string,
    id: string,
    secret: Pick<WebhookRow, 'secret'> & { readonly previousUntil: number },
  ): Promise<WebhookRow | null>;
  /** Removes a webhook with its deliveries. Returns whether there was one. */
  remove(owner: string, id: string): Promise<boolean>;
  /**
   * Stores a message for each webhook that is not disabled and asked for its type: of one owner, or of all where `owner`
   * is null. A webhook gets a message of one id once. With a mark, nothing is stored unless the mark is set too.
   */
  emit(message: WebhookMessage, owner: string | null, mark?: WebhookMark): Promise<void>;
  /** Stores a message for one webhook, whatever it asks for. Returns whether it can be sent. */
  emitTo(message: WebhookMessage, webhook: string): Promise<boolean>;
  mark(name: string): Promise<string | null>;
  /** Sets a mark without telling anything. Returns whether it had the value `from`. */
  setMark(mark: WebhookMark): Promise<boolean>;
  /** Owners with a webhook for events of the type, in order, after one. */
  owners(type: string, after: string, limit: number): Promise<string[]>;
  /**
   * Gives a webhook that has something due, that with the oldest first, to one process until `until`, or until `release`. Null
   * where there is none.
   */
  take(now: number, until: number): Promise<WebhookRow | null>;
  /** The deliveries of a webhook that are due, oldest first. */
  due(webhook: string, now: number, limit: number): Promise<DeliveryRow[]>;
  /**
   * Stores the result of an attempt, and what follows for the webhook: since when it fails, and whether it is disabled,
   * by which it loses what waits. Stores nothing, and returns false, if the delivery was removed or attempted otherwise.
   */
  attempted(
    result: DeliveryResult,
    webhook: Pick<WebhookRow, 'failingSince' | 'disabledAt' | 'disabledBecause'>,
  ): Promise<boolean>;
  /** Ends the lease of `take`, if it is still the one that ends at `until`. */
  release(webhook: string, until: number): Promise<void>;
  /** Makes a delivery due at `now`, as if it had never been attempted. False if it isn't there, or its webhook is disabled. */
  repeat(webhook: string, message: string, now: number): Promise<boolean>;
  /** Deliveries of a webhook, newest first, from `from` and before `before`. */
  deliveries(
    webhook: string,
    page: { readonly from: number; readonly before: DeliveryPlace; readonly limit: number },
  ): Promise<DeliveryRow[]>;
  count(now: number): Promise<WebhookCounts>;
  /** Forgets at most `limit` deliveries made before `before` that wait for nothing. Returns how many. */
  purge(before: number, limit: number): Promise<number>;
}
