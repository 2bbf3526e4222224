import type { Signer } from '../ed25519/signer.ts';
import { utf8 } from '../encoding/bytes.ts';
import { toHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject } from '../json/types.ts';
import { type EnvelopeFacts, envelope, mintEnvelope } from '../receipts/envelope.ts';
import { receiptId } from '../receipts/id.ts';
import { requireShape } from '../receipts/shape.ts';
import { commitSalt, type SessionValue, saltedHash, saltOf } from './salted.ts';
import {
  rootOf,
  type SessionCall,
  type SessionOpening,
  type SessionPlace,
  shortName,
  type ToolCall,
  type ToolOutcome,
  type ToolServer,
} from './session-call.ts';

/** What a recorder works with. */
export interface RecorderOptions {
  /** The key of the whole session. */
  readonly signer: Signer;
  /** `session_salt`: 32 random bytes. Whoever has it can open every value, so it is kept as a secret. */
  readonly salt: Uint8Array;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** So many random bytes. */
  readonly random: (length: number) => Uint8Array;
  /** The service that signs, where it is not the recorder's own key; what the recorder says is then `declared`. */
  readonly issuerDid?: string;
  /** DID of the agent that is recorded, as it says itself. */
  readonly agentDid?: string;
}

/** How a session begins. */
export type SessionBeginning = Pick<SessionOpening, 'continues' | 'parent'>;

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

const NOBODY = { entity: null, region: null, training_region: null };
const UNPAID = { chain: null, asset: null, tx: null };

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
    beginning: SessionBeginning = {},
  ): Promise<{ readonly recorder: SessionRecorder; readonly receipt: string }> {
    const id = toHex(options.random(16));
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
    }));
    this.#closed = true;
    return closing;
  }

  /** Signs the next receipt after all that were asked for before. */
  #sign(entryAt: (place: SessionPlace) => Entry): Promise<string> {
    if (this.#closed) {
      return Promise.reject(new TallyError('session_closed', 'This session is closed. Open a new one.'));
    }
    const signed = this.#last.then(async () => {
      const { id, seq, hash } = this.#head;
      const text = await mint(this.#options, entryAt({ id, prev: hash, seq: String(seq + 1) }));
      this.#head = { id, seq: seq + 1, hash: hashOfReceipt(text) };
      return text;
    });
    // A receipt that could not be signed has taken no place.
    this.#last = signed.catch(() => undefined);
    return signed;
  }
}

/** What one receipt of a session says. */
interface Entry {
  readonly call: SessionCall;
  readonly purpose: string;
  readonly request?: string | null;
  readonly response?: string | null;
}

function mint(
  { signer, now, random, issuerDid, agentDid }: RecorderOptions,
  { call, purpose, request = null, response = null }: Entry,
): Promise<string> {
  const facts: EnvelopeFacts = {
    call,
    ...(issuerDid !== undefined && { declared: ['call', 'request', 'response'] }),
    hardware: { attestation: null, class: null },
    operator: NOBODY,
    request: { hash: request, origin: agentDid ?? null, policy_hash: null, purpose },
    response: { hash: response, sealed: response === null ? null : false },
    settlement: UNPAID,
  };
  const issuedAt = now();
  const issuance = {
    receiptId: receiptId('env', Math.floor(issuedAt / 1000), toHex(random(6))),
    issuedAt,
    issuerDid: issuerDid ?? null,
    issuerVerified: issuerDid !== undefined,
  };
  return mintEnvelope(facts, issuance, signer);
}

/** `sha256:<hex>` of a receipt's anchored form. @param text its JCS text */
export function hashOfReceipt(text: string): string {
  const receipt = requireShape(envelope.shape, parseJson(utf8(text)) as JsonObject, 'not_a_receipt');
  return `sha256:${sha256Hex(canonicalBytes(envelope.anchored(receipt)))}`;
}
