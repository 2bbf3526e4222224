import { createHmac } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type JsonObject, type JsonValue, TallyError, utf8 } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import { type LogStorms, RollUp, seal, unseal } from '@tallystick/kit';
import { X402 } from '@tallystick/ledger';
import type { Logger } from 'pino';
import type { ComputeMetrics } from '../metrics.ts';
import type { ContentRow, ContentStore } from './content-store.ts';

/** Most characters of the JSON of a request, of what was sent, or of an answer; a longer one is not kept. */
export const MAX_PART = 524_288;
/** Characters that wait to be written: at most 128 MiB in memory. */
const MOST_WAITING = 67_108_864;
const AT_ONCE = 8;
/** Rows that are deleted at once: with SQLite nothing else runs meanwhile. */
const PURGED = 100;
const DAY_SECONDS = 86_400;
/** Milliseconds between two looks for a row that another process has yet to write, which takes it half a second. */
const LOOK_MS = 100;
/** The most looks for one row. */
const LOOKS = 30;
const FAILED = 'what callers have kept of their calls could not be written';
const FAILURES = { level: 'warn', burst: 3 } as const;

/** What a call sent and delivered. */
export interface SentAndAnswered {
  /** The body that the provider was sent. */
  readonly sent: JsonValue;
  /** JSON text of the answer without `svc`; null where it is too long to be kept. */
  readonly answer: string | null;
}

/** A call whose content its caller asked to keep. */
interface ContentToKeep extends Pick<ContentRow, 'id' | 'owner' | 'key'>, SentAndAnswered {
  /** The body that the caller sent. */
  readonly request: JsonObject;
}

/** What is kept of a call, as its caller reads it. A part that was too long is null. */
export interface CallContent {
  /** Unix seconds. */
  readonly keptUntil: number;
  readonly request: JsonValue;
  readonly sent: JsonValue;
  readonly answer: JsonValue;
}

interface KeptDependencies {
  readonly store: ContentStore;
  readonly issuer: Pick<OwnIssuer, 'keyring'>;
  /** Days for which content is kept; 0 keeps none. */
  readonly days: number;
  /** Whether a call of this account is billed, and another process has yet to write its row, which it does after its content. */
  readonly isUnlisted: (owner: string, id: string) => Promise<boolean>;
  readonly metrics: Pick<ComputeMetrics, 'unkept'>;
  readonly storms: LogStorms;
  readonly logger: Pick<Logger, 'warn'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

type Waiting = Omit<ContentRow, 'sealed'> & { readonly text: string };

/**
 * Keeps prompts and answers for callers who ask for it, where the operator allows it. They are written beside the
 * settlement, like the list of calls, and encrypted under a key that follows from the keyring's secret for API keys,
 * the owner and the call. What waits in memory is bounded, and is lost with the process.
 */
export class KeptContents {
  readonly #dependencies: KeptDependencies;
  readonly #waiting: RollUp<Waiting>;
  #characters = 0;

  constructor(dependencies: KeptDependencies) {
    this.#dependencies = dependencies;
    this.#waiting = new RollUp({ write: (rows) => this.#write(rows), mostAtOnce: AT_ONCE });
  }

  /** Whether the content of a call is to be kept for an account if its caller asks for it. */
  keepsFor(account: string): boolean {
    const { days, issuer } = this.#dependencies;
    // Whoever only pays by x402 has no account that could read it.
    return days > 0 && account !== X402 && issuer.keyring.apiKeySecret !== null;
  }

  push({ id, owner, key, request, sent, answer }: ContentToKeep): void {
    const { clock, days, metrics } = this.#dependencies;
    const parts = [JSON.stringify(request), JSON.stringify(sent), answer ?? 'null'];
    const [asked, passed, answered] = parts.map((part) => (part.length > MAX_PART ? 'null' : part));
    const text = `{"request":${asked},"sent":${passed},"answer":${answered}}`;
    if (this.#characters + text.length > MOST_WAITING) return metrics.unkept();
    this.#characters += text.length;
    this.#waiting.add({
      id,
      owner,
      key,
      expiresAt: Math.floor(clock() / 1_000) + days * DAY_SECONDS,
      text,
    });
  }

  /** Writes what waits. Never rejects: while the database is away it waits on. */
  async flush(): Promise<void> {
    const { storms, logger } = this.#dependencies;
    await this.#waiting.flush().catch((error: unknown) => {
      if (storms.admits(FAILED, FAILURES)) logger.warn({ err: error }, FAILED);
    });
  }

  /** What is kept of a call. @param key where the caller may read only what was made with one key */
  async find(owner: string, key: string | null, id: string): Promise<CallContent | null> {
    await this.flush();
    const { issuer, clock } = this.#dependencies;
    const { apiKeySecret } = issuer.keyring;
    const row = await this.#row(owner, id);
    if (row === null || row.expiresAt <= Math.floor(clock() / 1_000)) return null;
    if (apiKeySecret === null || (key !== null && row.key !== key)) return null;
    const text = unseal(keyOf(apiKeySecret, row), row.sealed).toString('utf8');
    return { keptUntil: row.expiresAt, ...(JSON.parse(text) as Omit<CallContent, 'keptUntil'>) };
  }

  /** Finds the row of a call. Where another process has just ended the call, this waits until it has written the row. */
  async #row(owner: string, id: string): Promise<ContentRow | null> {
    const { store, isUnlisted } = this.#dependencies;
    for (let looks = 1; ; looks += 1) {
      const isLast = looks > LOOKS || !(await isUnlisted(owner, id));
      const row = await store.find(owner, id);
      if (row !== null || isLast) return row;
      await setTimeout(LOOK_MS);
    }
  }

  /** Deletes what is kept of a call at once. Returns whether there was anything. */
  async remove(owner: string, key: string | null, id: string): Promise<boolean> {
    if ((await this.find(owner, key, id)) === null) return false;
    await this.#dependencies.store.remove(owner, id);
    return true;
  }

  /** Deletes what has expired, in small steps. */
  async purge(): Promise<void> {
    const { store, clock } = this.#dependencies;
    while ((await store.purge(Math.floor(clock() / 1_000), PURGED)) === PURGED);
  }

  async #write(rows: readonly Waiting[]): Promise<void> {
    const { store, issuer, metrics } = this.#dependencies;
    const { apiKeySecret } = issuer.keyring;
    const sealed = rows.flatMap(({ text, ...row }) =>
      apiKeySecret === null ? [] : { ...row, sealed: seal(keyOf(apiKeySecret, row), utf8(text)) },
    );
    try {
      await store.put(sealed);
    } catch (error) {
      if (error instanceof TallyError && error.code === 'unavailable') throw error;
      // What the database refuses would be refused again.
      for (const _ of rows) metrics.unkept();
    }
    for (const { text } of rows) this.#characters -= text.length;
  }
}

function keyOf(service: Uint8Array, { owner, id }: Pick<ContentRow, 'owner' | 'id'>): Buffer {
  return createHmac('sha256', service).update(`svc-call-content-v1\n${owner}\n${id}`).digest();
}
