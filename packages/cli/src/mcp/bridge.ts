import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { errorAnswer, INTERNAL_ERROR } from './answers.ts';
import { ClientPipe } from './client-pipe.ts';
import { CANCEL_GRACE_MS, type Conversation } from './conversation.ts';
import { InOrder } from './in-order.ts';
import { isJson, messagesIn, requestsIn } from './message.ts';
import { EventCutter, fieldOf } from './sse.ts';
import { toldToEnd } from './told-to-end.ts';
import { bodyOf, isPlain, send, typeOf } from './upstream.ts';

/** Milliseconds before a stream is asked for again, where the server does not say. */
const RETRY_MS = 1_000;
/** Attempts to go on with a stream, one after the other without an event between them. */
const ATTEMPTS = 5;

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';

const INITIALIZED = Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}');

export interface BridgeOptions {
  /** The endpoint of the server. */
  readonly target: URL;
  readonly conversation: Conversation;
  /** Headers that each request gets, as names and values in turn. */
  readonly headers: readonly string[];
  readonly remark: (text: string) => void;
}

/**
 * Speaks the stdio transport with the client that started this process, and the Streamable HTTP transport with a server (revisions
 * with `initialize`, up to 2025-11-25). Resolves when the client has closed its end, or this process is told to end.
 */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const bridge = new Bridge(options);
  await Promise.race([bridge.run(), toldToEnd()]);
  await bridge.end();
}

class Bridge {
  readonly #options: BridgeOptions;
  readonly #client = new ClientPipe();
  readonly #over = new AbortController();
  /** Requests that are not answered yet. */
  readonly #running = new Set<Promise<void>>();
  /** What the requests of each message wait for. */
  readonly #waits = new Set<Wait>();
  #session: string | null = null;
  /** The client's own `initialize`. */
  #greeting: Buffer | null = null;
  /** Another session is being begun, and whether that succeeds. */
  #renewal: Promise<boolean> | null = null;
  #revision: string | null = null;
  /** Sends messages in the order in which the client wrote them. */
  #sent: Promise<void> = Promise.resolve();

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { conversation } = this.#options;
    const answer = (message: Buffer): void => this.#write(message);
    await this.#client.read((line) => {
      const { passage, waitsForUser } = conversation.take(line, answer);
      const passed = Promise.resolve(passage).then((done) => {
        if (done.answer) answer(done.answer);
        return done.forward;
      });
      if (waitsForUser) void passed.then((body) => this.#send(body));
      else this.#sent = this.#sent.then(async () => this.#send(await passed));
    });
    conversation.stopAsking();
    await this.#sent;
    await Promise.all(this.#running);
  }

  async end(): Promise<void> {
    const { conversation, remark } = this.#options;
    this.#over.abort();
    conversation.stopAsking();
    await conversation.end('unknown');
    if (this.#session !== null) {
      const signal = AbortSignal.timeout(RETRY_MS);
      const ended = await this.#request('DELETE', [], { signal }).catch((error: Error) =>
        remark(error.message),
      );
      ended?.resume();
    }
    await this.#client.flush();
  }

  /** Sends a message. Resolves when the next one may be sent: a request runs on meanwhile, except for the first. */
  async #send(body: Buffer | undefined): Promise<void> {
    if (body === undefined || body.length === 0) return;
    const requests = requestsIn(body);
    const isFirst = requests.some(({ method }) => method === 'initialize');
    if (isFirst) this.#greeting = body;
    for (const id of cancelledIn(body)) setTimeout(() => this.#giveUp(id), CANCEL_GRACE_MS).unref();
    const aborter = new AbortController();
    const wait = { open: new Set(requests.map(({ id }) => id)), aborter };
    const exchange = this.#exchange(body, wait.open, AbortSignal.any([this.#over.signal, aborter.signal]));
    this.#running.add(exchange);
    this.#waits.add(wait);
    void exchange.finally(() => {
      this.#running.delete(exchange);
      this.#waits.delete(wait);
    });
    if (requests.length === 0 || isFirst) await exchange;
    if (isFirst && this.#session !== null) void this.#listen();
  }

  /** Waits no longer for the answer to a request that was cancelled: servers need not send one (Cancellation, Behavior). */
  #giveUp(id: string): void {
    for (const { open, aborter } of this.#waits) if (open.delete(id) && open.size === 0) aborter.abort();
  }

  /**
   * Sends a message and passes on what is answered. Each request gets an answer, and be it an error, unless it is cancelled.
   * @param open ids
   */
  async #exchange(body: Buffer, open: Set<string>, signal: AbortSignal): Promise<void> {
    let why = 'The server ended its answer too early.';
    try {
      const answer = await this.#postInSession(body, signal);
      this.#session ??= textHeader(answer, 'mcp-session-id');
      if (!isPlain(answer)) throw new Error('Its answer is compressed.');
      if (typeOf(answer) === EVENTS_TYPE) await this.#follow(answer, open, signal);
      else await this.#takeBody(answer, open);
      if ((answer.statusCode ?? 0) >= 300) why = `The server answered with status ${answer.statusCode}.`;
    } catch (error) {
      why = `The server can't be reached: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (this.#over.signal.aborted || open.size === 0) return;
    await this.#options.conversation.end(why.includes('status') ? 'error' : 'unknown', open);
    for (const id of open) this.#write(errorAnswer(id, INTERNAL_ERROR, why));
  }

  /** Sends a message, in a new session where the server has ended the one before (2025-11-25, Transports, Session Management). */
  async #postInSession(body: Buffer, signal: AbortSignal): Promise<IncomingMessage> {
    const session = this.#session;
    const answer = await this.#post(body, signal);
    if (session === null || answer.statusCode !== 404 || !(await this.#renew(session))) return answer;
    answer.resume();
    return this.#post(body, signal);
  }

  /** Returns whether there is another session in the place of the one that has ended. */
  async #renew(ended: string): Promise<boolean> {
    if (this.#session !== ended) return true;
    this.#renewal ??= this.#beginAgain().finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  /** Begins a session as the client did, who does not hear of it. Returns whether there is one. */
  async #beginAgain(): Promise<boolean> {
    const answer = await this.#post(this.#greeting ?? Buffer.of(), this.#over.signal, null);
    await firstMessage(answer);
    const session = textHeader(answer, 'mcp-session-id');
    if (session === null) return false;
    this.#session = session;
    (await this.#post(INITIALIZED, this.#over.signal)).resume();
    void this.#listen();
    return true;
  }

  #post(body: Buffer, signal: AbortSignal, session = this.#session): Promise<IncomingMessage> {
    const headers = [
      'Content-Type',
      JSON_TYPE,
      'Content-Length',
      String(body.length),
      'Accept',
      `${JSON_TYPE}, ${EVENTS_TYPE}`,
    ];
    return this.#request('POST', headers, { body, session, signal });
  }

  async #takeBody(answer: IncomingMessage, open: Set<string>): Promise<void> {
    const body = (await bodyOf(answer)) ?? Buffer.of();
    if (typeOf(answer) !== JSON_TYPE || body.length === 0) return;
    // An error of HTTP may come with a message of JSON-RPC that answers nothing.
    if ((answer.statusCode ?? 0) >= 300 && !answersOneOf(body, open)) return;
    this.#write(await this.#given(body, open));
  }

  /** Passes a stream on until all requests are answered, and asks for the rest where it ends before that. */
  async #follow(stream: IncomingMessage, open: Set<string>, signal: AbortSignal): Promise<void> {
    const place: Place = { last: null, retryMs: RETRY_MS };
    await this.#events(stream, open, place);
    for (let attempt = 0; open.size > 0 && place.last !== null && attempt < ATTEMPTS; attempt++) {
      const { last } = place;
      await wait(place.retryMs, undefined, { signal });
      const rest = await this.#request('GET', ['Accept', EVENTS_TYPE, 'Last-Event-ID', last], { signal });
      if (typeOf(rest) !== EVENTS_TYPE) return void rest.resume();
      await this.#events(rest, open, place);
      if (place.last !== last) attempt = -1;
    }
  }

  /** The stream on which the server speaks by itself, if it has one. */
  async #listen(): Promise<void> {
    const place: Place = { last: null, retryMs: RETRY_MS };
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = place.last;
      try {
        const since = before === null ? [] : ['Last-Event-ID', before];
        const stream = await this.#request('GET', ['Accept', EVENTS_TYPE, ...since]);
        if (typeOf(stream) !== EVENTS_TYPE) return void stream.resume();
        await this.#events(stream, new Set(), place);
        attempt = place.last === before ? attempt : -1;
        await wait(place.retryMs, undefined, { signal: this.#over.signal });
      } catch (error) {
        if (this.#over.signal.aborted) return;
        if (attempt === ATTEMPTS - 1) this.#options.remark(`The server's own stream broke: ${String(error)}`);
      }
    }
  }

  async #events(stream: IncomingMessage, open: Set<string>, place: Place): Promise<void> {
    const cutter = new EventCutter();
    const messages = new InOrder<Buffer>((message) => this.#write(message));
    try {
      for await (const chunk of stream) {
        for (const event of cutter.push(chunk as Buffer)) {
          place.last = fieldOf(event, 'id')?.toString() ?? place.last;
          place.retryMs = Number(fieldOf(event, 'retry') ?? place.retryMs);
          const data = fieldOf(event, 'data');
          if (data !== null && data.length > 0) messages.put(this.#given(data, open));
        }
      }
    } catch (error) {
      // A stream that broke can be gone on with if it told a place.
      if (this.#over.signal.aborted || place.last === null) throw error;
    } finally {
      await messages.settled;
    }
  }

  #given(message: Buffer, open: Set<string>): Buffer | Promise<Buffer> {
    for (const id of answeredIn(message)) open.delete(id);
    this.#revision ??= revisionIn(message);
    return this.#options.conversation.give(message);
  }

  /** Writes a message as one line: a line feed is white space in JSON. */
  #write(message: Buffer): void {
    const isOneLine = !message.includes(0x0a) && !message.includes(0x0d);
    this.#client.write(
      isOneLine ? message : (message.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte)) as Buffer),
    );
  }

  #request(
    method: string,
    headers: readonly string[],
    { body, session = this.#session, signal = this.#over.signal }: Request = {},
  ): Promise<IncomingMessage> {
    const own = [
      ...(session === null ? [] : ['Mcp-Session-Id', session]),
      ...(this.#revision === null ? [] : ['MCP-Protocol-Version', this.#revision]),
    ];
    const { target: url, headers: given } = this.#options;
    return send({ url, method, headers: [...headers, ...own, ...given], body, signal });
  }
}

/** What one exchange waits for: the ids that have no answer yet, and how it is ended. */
interface Wait {
  readonly open: Set<string>;
  readonly aborter: AbortController;
}

/** What a request may have beside its headers. */
interface Request {
  readonly body?: Buffer;
  readonly session?: string | null;
  readonly signal?: AbortSignal;
}

/** Where a stream is to be gone on with. */
interface Place {
  last: string | null;
  retryMs: number;
}

function textHeader({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

/** Ids of the requests that a message or batch answers, as JSON text. */
function answeredIn(bytes: Buffer): readonly string[] {
  if (!isJson(bytes)) return [];
  return messagesIn(bytes).flatMap(({ id, method }) => (id === null || method !== null ? [] : id));
}

/** Ids of the requests that a message or batch cancels, as JSON text. @param bytes valid JSON */
function cancelledIn(bytes: Buffer): readonly string[] {
  return messagesIn(bytes).flatMap((message) =>
    message.method === 'notifications/cancelled' ? JSON.stringify(message.value('params', 'requestId')) : [],
  );
}

/** Resolves when an answer of one piece, or the first message of a stream, is there. */
async function firstMessage(answer: IncomingMessage): Promise<void> {
  const cutter = new EventCutter();
  for await (const chunk of answer) {
    if (typeOf(answer) !== EVENTS_TYPE) continue;
    for (const event of cutter.push(chunk as Buffer)) {
      if (answeredIn(fieldOf(event, 'data') ?? Buffer.of()).length > 0) return;
    }
  }
}

function answersOneOf(bytes: Buffer, open: ReadonlySet<string>): boolean {
  return answeredIn(bytes).some((id) => open.has(id));
}

/** The revision of the protocol that the answer to `initialize` names. */
function revisionIn(bytes: Buffer): string | null {
  const [message] = isJson(bytes) ? messagesIn(bytes) : [];
  const revision = message?.value('result', 'protocolVersion');
  return typeof revision === 'string' ? revision : null;
}
