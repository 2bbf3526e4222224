import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@tallystick/core';
import { bedrockWire } from './upstream-bedrock.ts';
import { responsesWire } from './upstream-responses.ts';
import type { Fault, Script, UpstreamRequest, Wire } from './upstream-script.ts';
import { TokenEndpoint } from './upstream-tokens.ts';
import {
  anthropicWire,
  azureWire,
  geminiWire,
  ollamaWire,
  openaiWire,
  vertexWire,
} from './upstream-wires.ts';

export type { Fault, Script } from './upstream-script.ts';

type Answer = Script | ((request: UpstreamRequest) => Script);

export interface Upstream {
  /** Without a path: OpenAI's API is under `/v1`, Azure's under `/openai/v1`, the others are under the root. */
  readonly url: string;
  /** In the order in which they came. */
  readonly requests: UpstreamRequest[];
  /** Under `/token`. */
  readonly tokens: TokenEndpoint;
  /** The next requests are answered so, one each; those after them as `always` says. */
  play(...answers: Answer[]): void;
  always(answer: Answer): void;
  /** TCP connections that are open. */
  connections(): number;
  /** TCP connections that there ever were. */
  accepted(): number;
  /** Resolves, to `performance.now()`, when the next client leaves before its answer is complete. */
  hungUp(): Promise<number>;
  close(): Promise<void>;
}

const wiresOf = (tokens: TokenEndpoint): readonly (readonly [path: RegExp, wire: Wire])[] => [
  [/^\/v1\/chat\/completions$/, openaiWire],
  [/^\/v1\/responses$/, responsesWire],
  [/^\/v1\/messages$/, anthropicWire],
  [/^\/api\/chat$/, ollamaWire],
  [/^\/v1beta\/models\/[^/]+:(streamG|g)enerateContent$/, geminiWire],
  [/^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/google\/models\/[^/]+$/, vertexWire(tokens)],
  [/^\/model\/[^/]+\/converse(-stream)?$/, bedrockWire],
  [/^\/openai\/(v1|deployments\/[^/]+)\/chat\/completions$/, azureWire(openaiWire, tokens)],
  [/^\/openai\/(v1\/)?responses$/, azureWire(responsesWire, tokens)],
];

/** A server on a free loopback port that speaks the wire formats of every provider. */
export async function startUpstream(): Promise<Upstream> {
  const requests: UpstreamRequest[] = [];
  const queue: Answer[] = [];
  let usual: Answer = {};
  let accepted = 0;
  let open = 0;
  let waiting: ((at: number) => void)[] = [];
  const tokens = new TokenEndpoint();
  const wires = wiresOf(tokens);

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.once('close', () => {
      if (response.writableFinished || response.errored) return;
      for (const tell of waiting.splice(0)) tell(performance.now());
    });
    if (incoming.url === '/token') {
      const { status, body } = tokens.answer(new URLSearchParams(await text(incoming)));
      return sendJson(response, status, body);
    }
    const bytes = await buffer(incoming);
    const body = JSON.parse(bytes.toString()) as JsonObject;
    const request = { path: incoming.url ?? '', headers: incoming.headers, body, bytes };
    requests.push(request);
    const answer = queue.shift() ?? usual;
    const script = typeof answer === 'function' ? answer(request) : answer;
    const path = request.path.replace(/\?.*$/, '');
    const [, wire] = wires.find(([pattern]) => pattern.test(path)) ?? [];
    if (wire !== undefined) await new Exchange(wire, script, request, response).answer();
    else if (path === '/v1/embeddings' || path === '/api/embed') await embed(path, script, request, response);
    else sendJson(response, 404, { error: { message: 'no such path', type: 'invalid_request_error' } });
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.on('connection', (socket) => {
    accepted += 1;
    open += 1;
    socket.setNoDelay(true).once('close', () => {
      open -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    tokens,
    play: (...answers) => void queue.push(...answers),
    always: (answer) => {
      usual = answer;
    },
    connections: () => open,
    accepted: () => accepted,
    hungUp: () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      waiting = [...waiting, resolve];
      return promise;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Marks a connection that is broken from here, so that it is not taken for a client that left. */
const broken = new Error('broken by the script');

class Exchange {
  readonly #wire: Wire;
  readonly #script: Script;
  readonly #request: UpstreamRequest;
  readonly #response: ServerResponse;

  constructor(wire: Wire, script: Script, request: UpstreamRequest, response: ServerResponse) {
    this.#wire = wire;
    this.#script = script;
    this.#request = request;
    this.#response = response;
  }

  async answer(): Promise<void> {
    const { fault, headers = {} } = this.#script;
    for (const [name, value] of Object.entries(headers)) this.#response.setHeader(name, value);
    const denied = this.#wire.unauthorized?.(this.#request) ?? null;
    if (denied !== null)
      return sendFailure(this.#response, this.#wire, { kind: 'status', status: 401, message: denied });
    if (fault?.kind === 'silence') return;
    if (fault?.kind === 'reset') return void this.#response.destroy(broken);
    if (fault?.kind === 'slow_first_byte') await sleep(fault.ms);
    if (fault?.kind === 'held') await fault.until;
    if (fault?.kind === 'status') return sendFailure(this.#response, this.#wire, fault);
    const isStream = this.#wire.isStream?.(this.#request) ?? this.#request.body['stream'] === true;
    await (isStream ? this.#stream() : this.#complete());
  }

  async #complete(): Promise<void> {
    const { fault } = this.#script;
    const text = JSON.stringify(this.#wire.complete(this.#script, this.#request));
    this.#response.setHeader('content-type', 'application/json');
    if (fault?.kind === 'garbage') return void this.#response.end('<html>Bad gateway</html>');
    if (fault?.kind === 'cut') {
      this.#response.setHeader('content-length', Buffer.byteLength(text));
      await this.#write(text.slice(0, text.length / 2));
      return void this.#response.destroy(broken);
    }
    await this.#write(text);
    this.#response.end();
  }

  async #stream(): Promise<void> {
    const { fault, everyMs = 0 } = this.#script;
    this.#response.setHeader('content-type', this.#wire.contentType).flushHeaders();
    const events = this.#wire.events(this.#script, this.#request);
    for (const [index, event] of events.entries()) {
      if (fault && 'after' in fault && fault.after === index) return this.#break(fault, event);
      if (index > 0 && everyMs > 0) await sleep(everyMs);
      if (this.#response.destroyed) return;
      await this.#write(event);
    }
    this.#response.end();
  }

  async #break(fault: Extract<Fault, { after: number }>, next: string | Uint8Array): Promise<void> {
    if (fault.kind === 'garbage') await this.#write(fault.bit ? withWrongBit(next) : this.#wire.garbage);
    if (fault.kind === 'error_event') await this.#write(this.#wire.errorEvent(fault.message, fault.type));
    if (fault.kind === 'cut') this.#response.destroy(broken);
    else if (fault.kind !== 'stall') this.#response.end();
  }

  async #write(text: string | Uint8Array): Promise<void> {
    const { fault } = this.#script;
    const bytes = Buffer.from(text);
    const step = fault?.kind === 'split' ? fault.bytes : bytes.length;
    for (let start = 0; start < bytes.length; start += step)
      await new Promise<void>((resolve) => {
        this.#response.write(bytes.subarray(start, start + step), () => setImmediate(resolve));
      });
  }
}

/** An event whose payload has one bit wrong. */
function withWrongBit(event: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(event);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 9) ^ 1, bytes.length - 9);
  return bytes;
}

type StatusFault = Extract<Fault, { kind: 'status' }>;

function sendFailure(
  response: ServerResponse,
  wire: Wire,
  { retryAfter, message = 'the script says so', ...failure }: StatusFault,
): void {
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  sendJson(response, failure.status, wire.error({ ...failure, message }));
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const vector = [0.5, -0.25, 0.125];

async function embed(
  path: string,
  { fault, usage = { prompt: 5, completion: 0 } }: Script,
  { body }: UpstreamRequest,
  response: ServerResponse,
): Promise<void> {
  const wire = path === '/api/embed' ? ollamaWire : openaiWire;
  if (fault?.kind === 'status') return sendFailure(response, wire, fault);
  const inputs = Array.isArray(body['input']) ? body['input'] : [body['input']];
  const { model = '' } = body;
  if (path === '/api/embed')
    return sendJson(response, 200, {
      model,
      embeddings: inputs.map(() => vector),
      prompt_eval_count: usage.prompt,
    });
  const floats = Buffer.from(Float32Array.from(vector).buffer).toString('base64');
  const embedding = body['encoding_format'] === 'base64' ? floats : vector;
  sendJson(response, 200, {
    object: 'list',
    data: inputs.map((_, index) => ({ object: 'embedding', index, embedding })),
    model,
    usage: { prompt_tokens: usage.prompt, total_tokens: usage.prompt },
  });
}
