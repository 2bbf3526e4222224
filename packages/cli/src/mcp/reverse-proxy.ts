import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorAnswer, INTERNAL_ERROR, INVALID_REQUEST } from './answers.ts';
import { Conversation, type ConversationOptions, type Passage, type Taken } from './conversation.ts';
import { InOrder } from './in-order.ts';
import { requestsIn } from './message.ts';
import { EventCutter, eventOf, fieldOf, withData } from './sse.ts';
import { bodyOf, isPlain, send, typeOf } from './upstream.ts';

/** Most bytes of a message of a client: it is read whole before it is passed on. */
const MAX_BODY = 64 * 1024 * 1024;
/** Most sessions of MCP that are followed. The one that was quiet for longest is forgotten. */
const MAX_CONVERSATIONS = 1_000;

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Headers of one connection, which are not passed on (RFC 9110, section 7.6.1), and those that are written anew. */
const OWN_HEADERS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'accept-encoding',
]);

export interface ReverseProxyOptions {
  /** The endpoint of the server. */
  readonly target: URL;
  readonly host: string;
  readonly port: number;
  readonly conversation: ConversationOptions;
  /** Headers that each request gets besides the client's, as names and values in turn. */
  readonly headers: readonly string[];
}

export interface ReverseProxy {
  /** Where clients find the endpoint. */
  readonly url: string;
  /** Stops listening, and records the calls that were not answered. */
  close(): Promise<void>;
}

/** Listens for clients of the Streamable HTTP transport, and passes their requests on to a server. */
export async function listenInFront(options: ReverseProxyOptions): Promise<ReverseProxy> {
  const { target, host, port } = options;
  const proxy = new Proxy(options);
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    void proxy.handle(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host.replaceAll(/[[\]]/g, ''), resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${bound}${target.pathname}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await proxy.end();
    },
  };
}

/** A request of a client on its way to the server. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly conversation: Conversation;
  /** Ids of the calls in its body. */
  readonly calls: readonly string[];
  /** Whether the conversation is this exchange alone. */
  readonly isAlone: boolean;
}

class Proxy {
  readonly #options: ReverseProxyOptions;
  readonly #hosts: ReadonlySet<string>;
  /** By session of MCP, the quietest first. */
  readonly #conversations = new Map<string, Conversation>();
  /** Conversations of exchanges without a session. */
  readonly #alone = new Set<Conversation>();

  constructor(options: ReverseProxyOptions) {
    this.#options = options;
    this.#hosts = new Set([...LOOPBACK, options.host]);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response);
    } catch (error) {
      const { remark } = this.#options.conversation;
      remark(`The server can't be reached: ${error instanceof Error ? error.message : String(error)}`);
      refuse(response, 502, 'The server behind the proxy did not answer.');
    }
  }

  async end(): Promise<void> {
    const all = [...this.#conversations.values(), ...this.#alone];
    for (const conversation of all) conversation.stopAsking();
    await Promise.all(all.map((conversation) => conversation.end('unknown')));
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { target } = this.#options;
    // A page that reaches this address by a name of its own (DNS rebinding) is not a client.
    if (!this.#isKnown(request.headers.host) || !this.#isKnownOrigin(request.headers.origin)) {
      return refuse(response, 403, 'Host or Origin is not one of this proxy.');
    }
    const url = urlOf(request, target);
    if (url.host !== target.host) return refuse(response, 400, 'The path is not one of this proxy.');
    if (url.pathname === target.pathname) return this.#mcp(request, response);
    const isMetadata = url.pathname.startsWith('/.well-known/') && request.method === 'GET';
    if (!isMetadata) return refuse(response, 404, `Only ${target.pathname} is passed on.`);
    const answer = await send({ url, method: 'GET', headers: this.#headersOf(request) });
    begin(response, answer);
    answer.pipe(response);
  }

  async #mcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      const { conversation } = this.#conversationOf(request);
      return this.#pass({ request, response, conversation, calls: [], isAlone: false });
    }
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
      return refuse(response, 415, 'Send the body as it is, without an encoding.');
    }
    const body = await bodyOf(request, MAX_BODY);
    if (body === null) return refuse(response, 413, `A message may have at most ${MAX_BODY} bytes.`);
    const { conversation, isAlone } = this.#conversationOf(request);
    if (isAlone) this.#alone.add(conversation);
    try {
      const canStream = request.headers.accept?.includes('text/event-stream') === true;
      const ask = (message: Buffer): void => void stream(response).write(eventOf(message));
      const taken: Taken = conversation.take(body, canStream ? ask : null);
      if (taken.waitsForUser) response.once('close', () => conversation.stopAsking());
      const passage = await taken.passage;
      if (passage.forward === undefined) return answerItself(response, passage);
      const calls = requestsIn(passage.forward).flatMap(({ id, method }) =>
        method === 'tools/call' ? id : [],
      );
      await this.#pass({ request, response, conversation, calls, isAlone }, passage.forward);
    } finally {
      this.#alone.delete(conversation);
    }
  }

  async #pass(exchange: Exchange, body?: Buffer): Promise<void> {
    const { request, response, conversation, calls, isAlone } = exchange;
    const left = new AbortController();
    response.once('close', () => left.abort());
    try {
      const answer = await send({
        url: urlOf(request, this.#options.target),
        method: request.method ?? 'GET',
        headers: [...this.#headersOf(request), ...(body ? ['Content-Length', String(body.length)] : [])],
        body,
        signal: left.signal,
      });
      this.#follow(exchange, answer);
      await carry(exchange, answer);
      // What the server refused as HTTP, it did not answer as a message.
      if ((answer.statusCode ?? 0) >= 400) await conversation.end('error', calls);
    } catch (error) {
      if (!left.signal.aborted) {
        await conversation.end('unknown', calls);
        throw error;
      }
    } finally {
      // Without a session, nobody can ask for the answer again.
      if (isAlone && !this.#isFollowed(conversation)) {
        await conversation.end(
          left.signal.aborted && !response.writableFinished ? 'cancelled' : 'unknown',
          calls,
        );
      }
    }
  }

  #isFollowed(conversation: Conversation): boolean {
    return [...this.#conversations.values()].includes(conversation);
  }

  /** Notes a session of MCP that begins or ends. */
  #follow({ request, conversation }: Exchange, { headers, statusCode = 0 }: IncomingMessage): void {
    const begun = headers['mcp-session-id'];
    if (typeof begun === 'string') this.#remember(begun, conversation);
    const session = request.headers['mcp-session-id'];
    const isOver = statusCode === 404 || (request.method === 'DELETE' && statusCode < 300);
    if (typeof session === 'string' && isOver) this.#drop(session);
  }

  #conversationOf({ headers }: IncomingMessage): { conversation: Conversation; isAlone: boolean } {
    const session = headers['mcp-session-id'];
    const known = typeof session === 'string' ? this.#conversations.get(session) : undefined;
    const conversation = known ?? new Conversation(this.#options.conversation);
    if (typeof session === 'string') this.#remember(session, conversation);
    return { conversation, isAlone: typeof session !== 'string' };
  }

  #remember(session: string, conversation: Conversation): void {
    this.#conversations.delete(session);
    this.#conversations.set(session, conversation);
    const [quietest] = this.#conversations.keys();
    if (this.#conversations.size > MAX_CONVERSATIONS && quietest !== undefined) this.#drop(quietest);
  }

  #drop(session: string): void {
    const conversation = this.#conversations.get(session);
    this.#conversations.delete(session);
    conversation?.stopAsking();
    void conversation?.end('unknown');
  }

  #isKnown(host: string | undefined): boolean {
    const name = host?.replace(/:\d+$/, '').toLowerCase();
    return name !== undefined && this.#hosts.has(name);
  }

  #isKnownOrigin(origin: string | undefined): boolean {
    if (origin === undefined) return true;
    return URL.canParse(origin) && this.#isKnown(new URL(origin).host);
  }

  #headersOf({ rawHeaders }: IncomingMessage): string[] {
    return [...passedHeaders(rawHeaders), 'Accept-Encoding', 'identity', ...this.#options.headers];
  }
}

/** The address of a request at the server. A query of the endpoint is the owner's, and the client need not know it. */
function urlOf(request: IncomingMessage, target: URL): URL {
  const url = new URL(request.url ?? '/', target);
  if (url.search === '' && url.pathname === target.pathname) url.search = target.search;
  return url;
}

function passedHeaders(raw: readonly string[]): string[] {
  const headers: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2);
    if (!OWN_HEADERS.has(name.toLowerCase())) headers.push(name, value);
  }
  return headers;
}

function begin(response: ServerResponse, { statusCode = 502, rawHeaders }: IncomingMessage): void {
  response.writeHead(statusCode, passedHeaders(rawHeaders));
  response.flushHeaders();
}

/** Passes an answer on, with a receipt in each result of a call. */
async function carry({ response, conversation, calls }: Exchange, answer: IncomingMessage): Promise<void> {
  const type = typeOf(answer);
  if (type !== 'application/json' && type !== 'text/event-stream') return pipe(response, answer, calls);
  if (!isPlain(answer)) throw new Error('its answer is compressed though it was asked not to be');
  if (type === 'application/json') {
    const body = await conversation.give((await bodyOf(answer)) ?? Buffer.of());
    if (response.headersSent) return end(response, eventOf(body));
    const headers = [...passedHeaders(answer.rawHeaders), 'Content-Length', String(body.length)];
    response.writeHead(answer.statusCode ?? 502, headers);
    return end(response, body);
  }
  if (!response.headersSent) begin(response, answer);
  const events = new InOrder<Buffer>((event) => void response.write(event));
  const cutter = new EventCutter();
  for await (const chunk of answer) {
    for (const event of cutter.push(chunk as Buffer)) events.put(received(event, conversation));
    if (response.writableNeedDrain)
      await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
  }
  await events.settled;
  return end(response, cutter.rest());
}

function received(event: Buffer, conversation: Conversation): Buffer | Promise<Buffer> {
  const data = fieldOf(event, 'data');
  if (data === null) return event;
  const given = conversation.give(data);
  if (given instanceof Promise) return given.then((message) => withData(event, message));
  return event;
}

async function pipe(
  response: ServerResponse,
  answer: IncomingMessage,
  calls: readonly string[],
): Promise<void> {
  if (response.headersSent) {
    // The user was asked on this stream, so the answer has to be an event.
    const text = `The server answered with status ${answer.statusCode}.`;
    const events = calls.map((id) => eventOf(errorAnswer(id, INTERNAL_ERROR, text)));
    answer.resume();
    return end(response, Buffer.concat(events));
  }
  begin(response, answer);
  for await (const chunk of answer) response.write(chunk);
  return end(response);
}

/** Answers a message that does not reach the server. */
function answerItself(response: ServerResponse, { answer }: Passage): void {
  if (response.headersSent) return end(response, answer && eventOf(answer));
  if (answer === undefined) {
    response.writeHead(202);
    return end(response);
  }
  const isError = answer.includes('"id":null');
  response.writeHead(isError ? 400 : 200, {
    'content-type': 'application/json',
    'content-length': answer.length,
  });
  return end(response, answer);
}

function stream(response: ServerResponse): ServerResponse {
  if (!response.headersSent) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  }
  return response;
}

function refuse(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return void response.destroy();
  const body = errorAnswer(null, INVALID_REQUEST, text);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    connection: 'close',
  });
  end(response, body);
}

function end(response: ServerResponse, last?: Buffer): void {
  response.end(last);
}
