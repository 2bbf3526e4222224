import {
  checkToolCall,
  type RecordedTool,
  type RecorderOptions,
  type Referenced,
  readSessionReceipt,
  type SessionBeginning,
  type SessionHead,
  type SessionReceipt,
  SessionRecorder,
  type SessionValue,
  saltedHash,
  saltOf,
  shortName,
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
  /** Begins a call of a tool. Call it before the tool is called. @throws session_closed, invalid_field */
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
  const { sign, signed } = await sessionSigner(issuer);
  const options = { sign, salt: randomBytes(32), random: randomBytes };
  const beginning = { ...(continues && { continues }), ...(parent && { parent }) };
  const { recorder, receipt } = await SessionRecorder.open(options, beginning);
  await keep?.(receipt);
  return new KeptSession({ recorder, options, signed, store: { add: keep ?? (() => undefined) } });
}

/** `session.record`. */
export function record(session: Session, call: ToolBeginning & ToolEnd): Promise<string> {
  return session.record(call);
}

/** `session.close`. */
export function closeSession(session: Session): Promise<string> {
  return session.close();
}

/** What a receipt ends: the call of this number, the session, or nothing. */
type Ends = number | 'closing' | null;

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
  /** Those of the recorder. */
  readonly options: RecorderOptions;
  /** The receipts of the session that its signer keeps, a line each; null if it keeps none. */
  readonly signed: ((id: string) => Promise<string>) | null;
  readonly store: ReceiptStore;
  /** Calls that an earlier process began, by number. */
  readonly open?: ReadonlyMap<number, OpenCall>;
}

/** A session whose receipts go into a store. */
export class KeptSession implements Session {
  readonly #options: RecorderOptions;
  readonly #signed: Kept['signed'];
  readonly #store: ReceiptStore;
  readonly #open: Map<number, OpenCall>;
  /** Calls whose receipt is being signed. */
  readonly #ending = new Map<number, Promise<string>>();
  #begun: number;
  #recorder: SessionRecorder;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** What the receipt ends that the signer may have signed and that did not come back; null if there is none. */
  #unsure: { readonly ends: Ends } | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor({ recorder, options, signed, store, open = new Map() }: Kept) {
    this.#recorder = recorder;
    this.#options = options;
    this.#signed = signed;
    this.#store = store;
    this.#open = new Map(open);
    this.#begun = Math.max(0, ...open.keys());
  }

  get id(): string {
    return this.#recorder.head.id;
  }

  get salt(): Uint8Array {
    return this.#options.salt;
  }

  get head(): SessionHead {
    return this.#recorder.head;
  }

  async begin({ tool, server, arguments: given }: ToolBeginning): Promise<Begun> {
    this.#requireOpen();
    checkToolCall({ tool, server });
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
    if (call === undefined || this.#ending.has(number)) {
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
    try {
      // What is ending now may fail to, and is then among the calls without an answer.
      await Promise.allSettled(this.#ending.values());
      for (const [number, call] of this.#open)
        await this.#endOpen(number, { ...call, outcome: 'unknown', result: null });
      return await this.#add(() => this.#recorder.close(), 'closing');
    } catch (error) {
      this.#closed = false;
      throw error;
    }
  }

  /** Takes no more calls, and resolves when those that were taken are kept. */
  protected async stop(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }

  protected openCalls(): readonly (readonly [number, OpenCall])[] {
    return [...this.#open];
  }

  /** Leaves a call without a receipt. */
  protected forget(number: number): void {
    this.#open.delete(number);
  }

  /** Does something between two receipts. */
  protected between<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #endOpen(number: number, call: RecordedTool): Promise<string> {
    const ended = this.#add(() => this.#recorder.tool(call), number);
    this.#ending.set(number, ended);
    try {
      const receipt = await ended;
      this.#open.delete(number);
      return receipt;
    } finally {
      this.#ending.delete(number);
    }
  }

  #requireOpen(): void {
    if (this.#closed) throw new TallyError('session_closed', 'This session is closed. Open a new one.');
  }

  /** Signs the next receipt after those that were asked for before, and keeps it. @param ends what it ends: a call, or all */
  async #add(sign: () => Promise<string>, ends: Ends = null): Promise<string> {
    const added = this.between(async () => {
      if (this.#failure !== null) throw this.#failure.error;
      for (const found of this.#unsure !== null ? await this.#catchUp() : [])
        if (ends !== null && found.ends === ends) return found.receipt;
      this.#unsure = this.#signed === null ? null : { ends };
      const receipt = await sign();
      this.#unsure = null;
      await this.#keep(receipt, typeof ends === 'number' ? ends : null);
      return receipt;
    });
    const receipt = await added;
    await this.#kept(() => this.#store.flush?.());
    return receipt;
  }

  /**
   * Keeps the receipts that the signer has and this session has not: their answers were lost.
   * @returns whether the session is closed
   */
  protected async catchUp(): Promise<boolean> {
    const found = await this.between(() => this.#catchUp());
    await this.#kept(() => this.#store.flush?.());
    return found.some(({ ends }) => ends === 'closing');
  }

  async #catchUp(): Promise<{ readonly receipt: string; readonly ends: Ends }[]> {
    const found = [];
    const lines = (await this.#signed?.(this.id))?.split('\n') ?? [];
    for (const receipt of lines.filter((line) => line !== '')) {
      const read = readSessionReceipt(receipt);
      const { id, seq: text, prev } = read.call.session;
      const { head } = this.#recorder;
      const seq = Number(text);
      if (seq <= head.seq) continue;
      if (id !== head.id || seq !== head.seq + 1 || prev !== head.hash) {
        throw new TallyError('session_unusable', `The service has another receipt than number ${head.seq}.`);
      }
      const call = this.#callOf(read);
      this.#recorder = SessionRecorder.resume(this.#options, { id, seq, hash: read.hash });
      await this.#keep(receipt, call);
      if (call !== null) this.#open.delete(call);
      const isClosing = read.call.kind === 'session';
      if (isClosing) this.#closed = true;
      found.push({ receipt, ends: isClosing ? ('closing' as const) : call });
    }
    this.#unsure = null;
    return found;
  }

  /** The open call that a receipt is of: of calls that are alike, the one whose receipt did not come back. */
  #callOf({ call, request_hash: hash }: SessionReceipt): number | null {
    if (call.kind !== 'tool') return null;
    const salt = saltOf(this.salt, call.session.seq, 'arguments');
    const isOf = ({ tool, arguments: value }: OpenCall): boolean =>
      shortName(tool) === call.tool && (value === null ? null : saltedHash(salt, value)) === hash;
    const alike = [...this.#open].flatMap(([number, open]) => (isOf(open) ? number : []));
    return alike.find((number) => number === this.#unsure?.ends) ?? alike[0] ?? null;
  }

  /** Keeps a receipt that the recorder has just numbered. */
  #keep(receipt: string, ends: number | null): Promise<void> {
    return this.#kept(() => this.#store.add(receipt, { seq: this.#recorder.head.seq, ends }));
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
