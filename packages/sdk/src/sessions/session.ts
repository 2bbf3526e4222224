import {
  type RecordedTool,
  type Referenced,
  type SessionBeginning,
  type SessionHead,
  SessionRecorder,
  type SessionValue,
  TallyError,
  type ToolOutcome,
  type ToolServer,
} from '@tallystick/core';
import { randomBytes, type SessionIssuer, sessionSigner } from './signer.ts';
import { sessionValue } from './value.ts';

/** A call of a tool, before it goes on. */
export interface ToolBeginning {
  readonly tool: string;
  readonly server: ToolServer;
  /**
   * Any value that JSON can write is hashed as JSON; a `Uint8Array` as its bytes, for what came as JSON that is no
   * I-JSON; undefined if there are none.
   */
  readonly arguments?: unknown;
}

/** How a call of a tool ended. */
export interface ToolEnd {
  readonly outcome: ToolOutcome;
  /** As `arguments`; undefined if there is none, as after a refusal. */
  readonly result?: unknown;
}

/** A call that was begun, to be ended once. */
export interface Begun {
  readonly number: number;
}

/**
 * A session that is being recorded. Its methods may be called at the same time: receipts are numbered in the order in which
 * calls end. Each returns the JCS text of its receipt, once that is kept. If a receipt could not be kept, every later call
 * rejects with the same error.
 */
export interface Session {
  readonly id: string;
  /** The newest receipt. */
  readonly head: SessionHead;
  /** `session_salt`, 32 bytes: whoever has it can open every value, so it is kept as a secret. */
  readonly salt: Uint8Array;
  /** Begins a call of a tool. Call it before the tool is called. @throws session_closed */
  begin(call: ToolBeginning): Promise<Begun>;
  /** Ends a call that was begun. If it rejects because nobody signed, it may be called again. @throws session_closed, receipt_too_large */
  end(begun: Begun, ended: ToolEnd): Promise<string>;
  /** Records a call of a tool that is already over. */
  record(call: ToolBeginning & ToolEnd): Promise<string>;
  /** Records that a receipt of somebody else belongs here: of a model call, or the opening of a sub-agent's session. */
  reference(referenced: Referenced): Promise<string>;
  /** Ends the session. Calls that were begun and not ended are recorded as `unknown` before it. */
  close(): Promise<string>;
}

export interface OpenSessionOptions extends SessionIssuer, Pick<SessionBeginning, 'continues' | 'parent'> {
  /** Keeps a receipt; called for one after the other, in their order. The session goes on when it has returned. */
  readonly keep?: ((receipt: string) => unknown) | undefined;
}

/**
 * Opens a session that the caller keeps: `keep` gets the text of each receipt, which are the lines of the session's file.
 * `openSessionFile` of `@tallystick/sdk/session-file` keeps one on a disk.
 * @throws invalid_field, invalid_secret_key; ServiceError
 */
export async function openSession({
  keep,
  continues,
  parent,
  ...issuer
}: OpenSessionOptions): Promise<Session> {
  const { sign } = await sessionSigner(issuer);
  const salt = randomBytes(32);
  const beginning = { ...(continues && { continues }), ...(parent && { parent }) };
  const { recorder, receipt } = await SessionRecorder.open({ sign, salt, random: randomBytes }, beginning);
  await keep?.(receipt);
  return new KeptSession({ recorder, salt, store: { add: keep ?? (() => undefined) } });
}

/** `session.record`. */
export function record(session: Session, call: ToolBeginning & ToolEnd): Promise<string> {
  return session.record(call);
}

/** `session.close`. */
export function closeSession(session: Session): Promise<string> {
  return session.close();
}

/** A call that has begun and not ended. */
export interface OpenCall {
  readonly tool: string;
  readonly server: ToolServer;
  readonly arguments: SessionValue | null;
}

/** Where a session's receipts are kept. */
export interface ReceiptStore {
  /** Notes a call before it goes on. */
  begin?(number: number, call: OpenCall): void;
  /** Keeps a receipt. @param place `seq`, and the number of the call that the receipt ends, if it ends one */
  add(receipt: string, place: { readonly seq: number; readonly ends: number | null }): unknown;
  /** Resolves when everything added before is durable. */
  flush?(): Promise<void>;
}

export interface Kept {
  readonly recorder: SessionRecorder;
  readonly salt: Uint8Array;
  readonly store: ReceiptStore;
  /** Calls that an earlier process began, by number. */
  readonly open?: ReadonlyMap<number, OpenCall>;
}

/** A session whose receipts go into a store. */
export class KeptSession implements Session {
  readonly salt: Uint8Array;
  readonly #recorder: SessionRecorder;
  readonly #store: ReceiptStore;
  readonly #open: Map<number, OpenCall>;
  #begun: number;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  #failure: { readonly error: unknown } | null = null;

  constructor({ recorder, salt, store, open = new Map() }: Kept) {
    this.#recorder = recorder;
    this.salt = salt;
    this.#store = store;
    this.#open = new Map(open);
    this.#begun = Math.max(0, ...open.keys());
  }

  get id(): string {
    return this.#recorder.head.id;
  }

  get head(): SessionHead {
    return this.#recorder.head;
  }

  async begin({ tool, server, arguments: given }: ToolBeginning): Promise<Begun> {
    this.#requireOpen();
    const call = { tool, server, arguments: sessionValue(given) };
    const number = ++this.#begun;
    this.#store.begin?.(number, call);
    this.#open.set(number, call);
    return { number };
  }

  async end({ number }: Begun, { outcome, result }: ToolEnd): Promise<string> {
    this.#requireOpen();
    const value = sessionValue(result);
    const call = this.#open.get(number);
    if (call === undefined) {
      throw new TallyError('invalid_field', 'This call was not begun here, or has ended.', {
        field: 'begun',
      });
    }
    return this.#endOpen(number, { ...call, outcome, result: value });
  }

  async record(call: ToolBeginning & ToolEnd): Promise<string> {
    return this.end(await this.begin(call), call);
  }

  async reference(referenced: Referenced): Promise<string> {
    this.#requireOpen();
    return this.#add(() => this.#recorder.reference(referenced));
  }

  async close(): Promise<string> {
    this.#requireOpen();
    this.#closed = true;
    const unanswered = [...this.#open].map(([number, call]) =>
      this.#endOpen(number, { ...call, outcome: 'unknown', result: null }),
    );
    const closing = this.#add(() => this.#recorder.close());
    try {
      await Promise.all([...unanswered, closing]);
    } catch (error) {
      this.#closed = false;
      throw error;
    }
    return closing;
  }

  /** Takes no more calls, and resolves when those that were taken are kept. */
  protected async stop(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }

  async #endOpen(number: number, call: RecordedTool): Promise<string> {
    const opened = this.#open.get(number);
    this.#open.delete(number);
    try {
      return await this.#add(() => this.#recorder.tool(call), number);
    } catch (error) {
      if (opened !== undefined) this.#open.set(number, opened);
      throw error;
    }
  }

  #requireOpen(): void {
    if (this.#closed) throw new TallyError('session_closed', 'This session is closed. Open a new one.');
  }

  /** Signs the next receipt after those that were asked for before, and keeps it. */
  async #add(sign: () => Promise<string>, ends: number | null = null): Promise<string> {
    const added = this.#last.then(async () => {
      if (this.#failure !== null) throw this.#failure.error;
      const receipt = await sign();
      await this.#kept(() => this.#store.add(receipt, { seq: this.#recorder.head.seq, ends }));
      return receipt;
    });
    this.#last = added.catch(() => undefined);
    const receipt = await added;
    await this.#kept(() => this.#store.flush?.());
    return receipt;
  }

  /** What was not kept has taken its number all the same, so nothing may follow it. */
  async #kept(keep: () => unknown): Promise<void> {
    try {
      await keep();
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }
}
