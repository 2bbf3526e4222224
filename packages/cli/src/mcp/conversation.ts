import { randomUUID } from 'node:crypto';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  RECEIPT_META_KEY,
  resultWithoutReceipt,
  type ToolOutcome,
  type ToolServer,
} from '@tallystick/core';
import type { Begun, Session, ToolBeginning, ToolEnd } from '@tallystick/sdk';
import { errorAnswer, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, refusal } from './answers.ts';
import { elementsOf } from './json-spans.ts';
import { isJson, Message } from './message.ts';
import type { Decision } from './policy.ts';

/** Milliseconds in which the answer to a call may still come after the call was cancelled. */
export const CANCEL_GRACE_MS = 1_000;

/** Where calls are recorded. */
type CallRecorder = Pick<Session, 'begin' | 'end'>;

export interface ConversationOptions {
  readonly recorder: CallRecorder;
  readonly decide: (tool: string) => Decision;
  /** What is known of the server before it says it. */
  readonly server: ToolServer;
  /** Tells the person who runs the proxy. */
  readonly remark: (text: string) => void;
}

/** What becomes of a message of the client: it is passed on, or answered instead, or neither. */
export interface Passage {
  readonly forward?: Buffer;
  readonly answer?: Buffer;
}

/** What becomes of a message, once it is known. */
export interface Taken {
  readonly passage: Passage | Promise<Passage>;
  /** Whether later messages may be passed on before it: it waits for the user. */
  readonly waitsForUser: boolean;
}

/** A call that was passed on and is not answered yet. */
interface Pending {
  readonly begun: Promise<Begun>;
  /** Records the call as cancelled when it fires. */
  timer?: NodeJS.Timeout;
}

/** What the user said: null when nobody will answer any more. */
type UserAnswer = 'accept' | 'decline' | 'cancelled' | null;

/**
 * The messages between one client and one server, each looked at as it passes: calls of tools are judged, recorded and get
 * their receipt. It knows nothing of how messages are carried. All else passes as it came.
 */
export class Conversation {
  readonly #options: ConversationOptions;
  #server: ToolServer;
  #canAsk = false;
  /** Calls of tools that have no answer yet, by the id of their request. */
  readonly #pending = new Map<string, Pending>();
  /** Ids of requests whose answer names the server. */
  readonly #greetings = new Set<string>();
  /** Questions to the user, by the id of our own request. */
  readonly #questions = new Map<
    string,
    { readonly call: string; readonly settle: (answer: UserAnswer) => void }
  >();

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#server = options.server;
  }

  /** Whether a call waits for its answer. */
  get isWaiting(): boolean {
    return this.#pending.size > 0 || this.#questions.size > 0;
  }

  /**
   * Takes a message of the client.
   * @param ask sends a message of our own to the client, now; null if that can't be done
   */
  take(bytes: Buffer, ask: ((message: Buffer) => void) | null): Taken {
    const blank = bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
    if (blank) return now({ forward: bytes });
    if (!isJson(bytes)) {
      return now({ answer: errorAnswer(null, PARSE_ERROR, 'This is not JSON. It was not passed on.') });
    }
    const line = withoutCarriageReturns(bytes);
    const elements = elementsOf(line.toString('latin1'));
    if (elements !== null)
      return this.#takeBatch(
        line,
        elements.map(({ start, end }) => line.subarray(start, end)),
      );
    const message = Message.read(line);
    return message === null ? now({ forward: line }) : this.#takeMessage(message, ask);
  }

  /** Takes a message of the server. Returns what the client gets. The promise does not reject. */
  give(bytes: Buffer): Buffer | Promise<Buffer> {
    if (this.#pending.size === 0 && this.#greetings.size === 0) return bytes;
    if (!isJson(bytes)) return bytes;
    const elements = elementsOf(bytes.toString('latin1'));
    if (elements !== null) {
      const given = elements.map(({ start, end }) => this.give(bytes.subarray(start, end)));
      if (!given.some((part) => part instanceof Promise)) return bytes;
      return Promise.all(given.map(async (part) => part)).then((parts) => {
        const pieces = parts.flatMap((part, index) => [
          bytes.subarray(elements[index - 1]?.end ?? 0, elements[index]?.start),
          part,
        ]);
        return Buffer.concat([...pieces, bytes.subarray(elements.at(-1)?.end)]);
      });
    }
    const message = Message.read(bytes);
    const id = message?.method === null ? message.id : null;
    if (message === null || id === null) return bytes;
    if (this.#greetings.delete(id)) this.#meet(message, 'result', 'serverInfo');
    const pending = this.#pending.get(id);
    if (pending === undefined) return bytes;
    this.#forget(id, pending);
    return this.#settle(id, pending, message);
  }

  /**
   * Records calls that will not be answered any more.
   * @param outcome of those that nobody cancelled
   * @param ids of the calls; all when absent
   */
  async end(outcome: ToolOutcome, ids: Iterable<string> = [...this.#pending.keys()]): Promise<void> {
    const lost = [...ids].map((id) => this.#lose(id, outcome));
    await Promise.all(lost);
  }

  /** Takes all questions to the user for refused: the client is gone. */
  stopAsking(): void {
    for (const { settle } of this.#questions.values()) settle(null);
  }

  #takeMessage(message: Message, ask: ((message: Buffer) => void) | null): Taken {
    const { method, id } = message;
    if (message.isAmbiguous) return now({ answer: errorAnswer(id, INVALID_REQUEST, AMBIGUOUS) });
    if (method === null && id !== null && this.#hear(id, message)) return now({});
    if (method === 'initialize' || method === 'server/discover') this.#greet(message);
    if (method === 'notifications/cancelled') return now(this.#cancel(message));
    if (method !== 'tools/call') return now({ forward: message.bytes });
    const call = this.#callIn(message);
    if ('answer' in call) return now(call);
    const decision = this.#options.decide(call.tool);
    if (decision === 'allow') return { passage: this.#pass(call, message.bytes), waitsForUser: false };
    if (decision === 'deny') return { passage: this.#refuse(call, DENIED(call.tool)), waitsForUser: false };
    if (!this.#canAsk || ask === null) {
      return { passage: this.#refuse(call, UNASKED(call.tool)), waitsForUser: false };
    }
    return { passage: this.#askAndPass(call, message, ask), waitsForUser: true };
  }

  /** A batch passes whole, or, if a call in it does not pass, not at all. */
  #takeBatch(bytes: Buffer, parts: readonly Buffer[]): Taken {
    if (parts.length === 0) return now({ forward: bytes });
    const messages = parts.map((part) => Message.read(part)).filter((message) => message !== null);
    const calls = messages.map((message) => (message.method === 'tools/call' ? this.#callIn(message) : null));
    const ids = calls.flatMap((call) => (call === null || 'answer' in call ? [] : [call.id]));
    const passes =
      messages.every(({ isAmbiguous }) => !isAmbiguous) &&
      calls.every(
        (call) => call === null || (!('answer' in call) && this.#options.decide(call.tool) === 'allow'),
      ) &&
      new Set(ids).size === ids.length;
    if (!passes) return { passage: this.#refuseBatch(messages, calls), waitsForUser: false };
    const passages = messages.map(async (message, index) => {
      const call = calls[index];
      return call && !('answer' in call) ? this.#pass(call, bytes) : this.#takeMessage(message, null).passage;
    });
    const whole = Promise.all(passages).then((all) => {
      const failed = all.flatMap(({ answer }) => answer ?? []);
      if (failed.length > 0) return { answer: batch(failed) };
      return all.some(({ forward }) => forward) ? { forward: bytes } : {};
    });
    return { passage: whole, waitsForUser: false };
  }

  async #refuseBatch(
    messages: readonly Message[],
    calls: readonly (Call | Unfit | null)[],
  ): Promise<Passage> {
    const answers = messages.map(async (message, index) => {
      const call = calls[index];
      if (message.isAmbiguous) return errorAnswer(message.id, INVALID_REQUEST, AMBIGUOUS);
      if (call && 'answer' in call) return call.answer;
      if (call && this.#options.decide(call.tool) !== 'allow') {
        const { answer } = await this.#refuse(call, DENIED(call.tool));
        return answer ?? [];
      }
      return message.id === null || message.method === null
        ? []
        : errorAnswer(
            message.id,
            INVALID_REQUEST,
            'Another call of this batch was refused. Send this one by itself.',
          );
    });
    return { answer: batch((await Promise.all(answers)).flat()) };
  }

  /** Notes a request whose answer names the server. */
  #greet(message: Message): void {
    const { id } = message;
    if (id !== null) this.#greetings.add(id);
    const elicitation = message.value('params', 'capabilities', 'elicitation');
    if (message.method !== 'initialize') return;
    // A client that names modes has only those (2025-11-25, Elicitation, Capabilities).
    this.#canAsk = isObject(elicitation) && (Object.keys(elicitation).length === 0 || 'form' in elicitation);
  }

  #meet(message: Message, ...path: readonly string[]): void {
    const info = message.value(...path);
    if (!isObject(info) || typeof info.name !== 'string' || info.name === '') return;
    const version = typeof info.version === 'string' && info.version !== '' ? info.version : null;
    this.#server = { ...this.#server, name: info.name, version };
  }

  /** The call in a message of the method `tools/call`, or the answer to one that is none. */
  #callIn(message: Message): Call | Unfit {
    const { id } = message;
    const tool = message.value('params', 'name');
    if (id === null)
      return {
        answer: errorAnswer(null, INVALID_REQUEST, 'A call of a tool needs an id. It was not passed on.'),
      };
    if (typeof tool !== 'string' || tool === '') {
      return {
        answer: errorAnswer(id, INVALID_REQUEST, 'A call of a tool needs params.name. It was not passed on.'),
      };
    }
    const isAsked = [...this.#questions.values()].some(({ call }) => call === id);
    if (this.#pending.has(id) || isAsked) {
      return {
        answer: errorAnswer(
          id,
          INVALID_REQUEST,
          'A call with this id is not answered yet. This one was not passed on.',
        ),
      };
    }
    return { id, tool, server: this.#server, arguments: message.hashed('params', 'arguments') };
  }

  async #pass({ id, ...call }: Call, bytes: Buffer): Promise<Passage> {
    const pending: Pending = { begun: this.#options.recorder.begin(call) };
    this.#pending.set(id, pending);
    try {
      await pending.begun;
      return { forward: bytes };
    } catch (error) {
      this.#forget(id, pending);
      this.#options.remark(`A call of ${call.tool} could not be recorded: ${textOf(error)}`);
      return {
        answer: errorAnswer(id, INTERNAL_ERROR, 'The call could not be recorded, so it was not made.'),
      };
    }
  }

  async #refuse({ id, ...call }: Call, text: string): Promise<Passage> {
    try {
      const answer = Message.read(refusal(id, text)) as Message;
      return { answer: withReceipt(answer, await this.#record(call, 'denied')) };
    } catch (error) {
      this.#options.remark(`A refusal of ${call.tool} could not be recorded: ${textOf(error)}`);
      return { answer: errorAnswer(id, INTERNAL_ERROR, `${text} The refusal could not be recorded.`) };
    }
  }

  async #askAndPass(call: Call, message: Message, ask: (message: Buffer) => void): Promise<Passage> {
    // A server that could guess the id could ask something else under it, and the answer to that would count.
    const question = `"tallystick-ask-${randomUUID()}"`;
    const { promise, resolve } = Promise.withResolvers<UserAnswer>();
    this.#questions.set(question, { call: call.id, settle: resolve });
    ask(Buffer.from(questionText(question, call, message)));
    const answer = await promise;
    this.#questions.delete(question);
    if (answer === 'accept') return this.#pass(call, message.bytes);
    if (answer !== 'cancelled') return this.#refuse(call, DECLINED(call.tool));
    ask(
      Buffer.from(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${question}}}`),
    );
    const { id: _id, ...recorded } = call;
    await this.#record(recorded, 'cancelled').catch((error: unknown) => {
      this.#options.remark(`A cancelled call of ${call.tool} could not be recorded: ${textOf(error)}`);
    });
    return {};
  }

  /** Records a call that the server has never seen. */
  async #record(call: ToolBeginning, outcome: ToolOutcome): Promise<string> {
    const { recorder } = this.#options;
    return recorder.end(await recorder.begin(call), { outcome });
  }

  /** Takes the answer to a question of ours. Returns false if it is none. */
  #hear(id: string, message: Message): boolean {
    const question = this.#questions.get(id);
    question?.settle(message.value('result', 'action') === 'accept' ? 'accept' : 'decline');
    return question !== undefined;
  }

  #cancel(message: Message): Passage {
    const requestId = message.value('params', 'requestId');
    const id = JSON.stringify(requestId);
    for (const { call, settle } of this.#questions.values()) {
      if (call !== id) continue;
      settle('cancelled');
      // The server has never seen the call.
      return {};
    }
    const pending = this.#pending.get(id);
    if (pending !== undefined) {
      pending.timer ??= setTimeout(() => void this.#lose(id, 'cancelled'), CANCEL_GRACE_MS).unref();
    }
    return { forward: message.bytes };
  }

  async #lose(id: string, outcome: ToolOutcome): Promise<void> {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const wasCancelled = pending.timer !== undefined;
    this.#forget(id, pending);
    try {
      await this.#options.recorder.end(await pending.begun, {
        outcome: wasCancelled ? 'cancelled' : outcome,
      });
    } catch (error) {
      this.#options.remark(`A call that was not answered could not be recorded: ${textOf(error)}`);
    }
  }

  #forget(id: string, { timer }: Pending): void {
    this.#pending.delete(id);
    clearTimeout(timer);
  }

  async #settle(id: string, { begun }: Pending, message: Message): Promise<Buffer> {
    try {
      const receipt = await this.#options.recorder.end(await begun, endOf(message));
      return withReceipt(message, receipt);
    } catch (error) {
      this.#options.remark(`A receipt could not be written: ${textOf(error)}`);
      const text = 'The tool was called, but its receipt could not be written, so its result is withheld.';
      return errorAnswer(id, INTERNAL_ERROR, text);
    }
  }
}

/** A call of a tool, with the JSON text of its id. */
interface Call extends ToolBeginning {
  readonly id: string;
}

/** The answer to what is no call that can be passed on. */
interface Unfit {
  readonly answer: Buffer;
}

const AMBIGUOUS =
  'A member comes twice, or in another case, so that this message can be read in two ways. It was not passed on.';
const DENIED = (tool: string) =>
  `The tool ${JSON.stringify(tool)} was not called: the policy of the proxy denies it.`;
const DECLINED = (tool: string) =>
  `The tool ${JSON.stringify(tool)} was not called: the user did not allow it.`;
const UNASKED = (tool: string) =>
  `The tool ${JSON.stringify(tool)} was not called: the user has to allow it, and this client cannot ask (it has no elicitation).`;

function now(passage: Passage): Taken {
  return { passage, waitsForUser: false };
}

function endOf(message: Message): ToolEnd {
  if (!message.has('result')) return { outcome: 'error', result: message.hashed('error') };
  const outcome = message.value('result', 'isError') === true ? 'error' : 'completed';
  const result = message.hashed('result');
  return { outcome, result: isPlainObject(result) ? resultWithoutReceipt(result) : result };
}

function isPlainObject(value: JsonValue | Uint8Array | undefined): value is JsonObject {
  return value !== undefined && !(value instanceof Uint8Array) && isObject(value);
}

/** An answer with a receipt in its result's `_meta`; as it is, if it has no place for one. @param receipt JCS text */
function withReceipt(answer: Message, receipt: string): Buffer {
  const result = answer.objectAt('result');
  if (result === null) return answer.bytes;
  const member = `${JSON.stringify(RECEIPT_META_KEY)}:${receipt}`;
  if (!answer.has('result', '_meta')) return insert(answer, result, `"_meta":{${member}}`);
  const meta = answer.objectAt('result', '_meta');
  if (meta === null) return answer.bytes;
  const earlier = answer.span('result', '_meta', RECEIPT_META_KEY);
  return earlier ? answer.replace(earlier, receipt) : insert(answer, meta, member);
}

function insert(
  message: Message,
  { span, isEmpty }: NonNullable<ReturnType<Message['objectAt']>>,
  member: string,
): Buffer {
  const place = span.start + 1;
  return message.replace({ start: place, end: place }, isEmpty ? member : `${member},`);
}

/** Most characters of the arguments that the user is shown. */
const SHOWN = 2_000;

function questionText(id: string, { tool, server }: Call, message: Message): string {
  const given = JSON.stringify(message.value('params', 'arguments') ?? {});
  const shown = given.length > SHOWN ? `${given.slice(0, SHOWN)}… (${given.length} characters)` : given;
  const params = {
    message: `May the tool ${JSON.stringify(tool)} of ${JSON.stringify(server.name)} be called with these arguments? ${shown}`,
    requestedSchema: { type: 'object', properties: {} },
  };
  return `{"jsonrpc":"2.0","id":${id},"method":"elicitation/create","params":${JSON.stringify(params)}}`;
}

function batch(answers: readonly Buffer[]): Buffer {
  return Buffer.from(`[${answers.map(String).join(',')}]`);
}

/** JSON without carriage returns, which are white space in it, and at which some servers end a line. */
function withoutCarriageReturns(json: Buffer): Buffer {
  const at = json.indexOf(0x0d);
  if (at === -1 || at === json.length - 1) return json;
  return Buffer.from(json.map((byte, index) => (byte === 0x0d && index < json.length - 1 ? 0x20 : byte)));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
