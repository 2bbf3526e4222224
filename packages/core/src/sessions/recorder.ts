import { toHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { commitSalt, type SessionValue, saltedHash, saltOf } from './salted.ts';
import {
  rootOf,
  type SessionOpening,
  type SessionPlace,
  shortName,
  type ToolCall,
  type ToolOutcome,
  type ToolServer,
} from './session-call.ts';
import { readSessionReceipt } from './session-receipt.ts';
import type { SessionEntryToSign, SessionSigner } from './signers.ts';

/** What a recorder works with. */
export interface RecorderOptions {
  /** Signs each receipt, with one key for the whole session. */
  readonly sign: SessionSigner;
  /** `session_salt`: 32 random bytes. Whoever has it can open every value, so it is kept as a secret. */
  readonly salt: Uint8Array;
  /** So many random bytes. */
  readonly random: (length: number) => Uint8Array;
}

/** How a session begins. */
export interface SessionBeginning extends Pick<SessionOpening, 'continues' | 'parent'> {
  /** 128 random bits as 32 lower-case hex characters; drawn when absent. */
  readonly id?: string;
}

/** The newest receipt of a session. */
export interface SessionHead {
  readonly id: string;
  readonly seq: number;
  /** `sha256:<hex>`, its anchored hash. */
  readonly hash: string;
}

/** A call of a tool that has ended. */
export interface RecordedTool {
  readonly tool: string;
  readonly server: ToolServer;
  readonly outcome: ToolOutcome;
  readonly arguments: SessionValue | null;
  /** Null if there is none, as after a refusal. */
  readonly result: SessionValue | null;
}

/** A receipt that a session refers to. */
export interface Referenced {
  readonly receipt_id: string;
  /** Its anchored hash. */
  readonly receipt_sha256: string;
  /** Id of the session that it opens, if it opens one. */
  readonly child?: string;
}

const NO_VALUES = { request: null, response: null };

/**
 * Signs the receipts of one session, in order. Each method returns the JCS text of a receipt; calls are carried out one
 * after the other, in the order in which they were made. It keeps nothing: the caller writes each text down.
 */
export class SessionRecorder {
  readonly #options: RecorderOptions;
  #head: SessionHead;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  private constructor(options: RecorderOptions, head: SessionHead) {
    this.#options = options;
    this.#head = head;
  }

  /** Begins a session. */
  static async open(
    options: RecorderOptions,
    { id = toHex(options.random(16)), ...beginning }: SessionBeginning = {},
  ): Promise<{ readonly recorder: SessionRecorder; readonly receipt: string }> {
    const recorder = new SessionRecorder(options, { id, seq: -1, hash: rootOf(id) });
    const receipt = await recorder.#sign((session) => ({
      call: {
        event: 'open',
        kind: 'session',
        salt_commitment: commitSalt(options.salt),
        session,
        ...beginning,
      },
      purpose: 'session',
      ...NO_VALUES,
    }));
    return { recorder, receipt };
  }

  /** Goes on with a session that is open. @param head its newest receipt */
  static resume(options: RecorderOptions, head: SessionHead): SessionRecorder {
    return new SessionRecorder(options, head);
  }

  /** The newest receipt. */
  get head(): SessionHead {
    return this.#head;
  }

  /** Records a call of a tool. */
  tool({ tool, server, outcome, ...values }: RecordedTool): Promise<string> {
    return this.#sign((session) => {
      const hashOf = (part: 'arguments' | 'result'): string | null => {
        const value = values[part];
        return value && saltedHash(saltOf(this.#options.salt, session.seq, part), value);
      };
      const raw = (['arguments', 'result'] as const).filter((part) => 'raw' in (values[part] ?? {}));
      const call: ToolCall = {
        kind: 'tool',
        outcome,
        ...(raw.length > 0 && { raw }),
        server: { ...server, name: shortName(server.name) },
        session,
        tool: shortName(tool),
      };
      return { call, purpose: 'tool_call', request: hashOf('arguments'), response: hashOf('result') };
    });
  }

  /** Records that a receipt of somebody else belongs here. */
  reference(referenced: Referenced): Promise<string> {
    return this.#sign((session) => ({
      call: { kind: 'reference', ...referenced, session },
      purpose: 'reference',
      ...NO_VALUES,
    }));
  }

  /** Ends the session. Nothing can be recorded after it. */
  close(): Promise<string> {
    const closing = this.#sign((session) => ({
      call: {
        count: String(Number(session.seq) + 1),
        event: 'close',
        head: session.prev,
        kind: 'session',
        session,
      },
      purpose: 'session',
      ...NO_VALUES,
    }));
    this.#closed = true;
    return closing.catch((error: unknown) => {
      this.#closed = false;
      throw error;
    });
  }

  /** Signs the next receipt after all that were asked for before. */
  #sign(entryAt: (place: SessionPlace) => SessionEntryToSign): Promise<string> {
    if (this.#closed) {
      return Promise.reject(new TallyError('session_closed', 'This session is closed. Open a new one.'));
    }
    const signed = this.#last.then(async () => {
      const { id, seq, hash } = this.#head;
      const text = await this.#options.sign(entryAt({ id, prev: hash, seq: String(seq + 1) }));
      this.#head = { id, seq: seq + 1, hash: readSessionReceipt(text).hash };
      return text;
    });
    // A receipt that could not be signed has taken no place.
    this.#last = signed.catch(() => undefined);
    return signed;
  }
}
