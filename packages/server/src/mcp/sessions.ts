import { hash, randomUUID } from 'node:crypto';
import {
  LATEST_PROTOCOL_VERSION,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { TallyError } from '@tallystick/core';
import type { SessionNotes } from './session-notes.ts';

type RequestId = string | number;

interface Session {
  readonly id: string;
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** `Clients.group` of the client that opened it. */
  readonly client: string;
  /** Unix milliseconds. */
  usedAt: number;
  /** Requests that this process has not answered yet. */
  readonly asked: Set<RequestId>;
  /** Calls that run in this process. */
  readonly running: Set<RequestId>;
}

interface Limits {
  readonly all: number;
  readonly perClient: number;
  readonly idleMs: number;
}

export interface RunningCall {
  /** Undefined if it is stateless. */
  readonly sessionId: string | undefined;
  readonly id: RequestId;
  /** Aborts when the client cancels it. */
  readonly cancelled: AbortSignal;
}

const LIMITS: Limits = { all: 1_000, perClient: 100, idleMs: 1_800_000 };

/** Ids of sessions that have ended here, the newest. */
const MAX_ENDED = 10_000;

/** Note about a session that its client has ended. */
const ENDED = 'ended';
/** Milliseconds between two looks whether the client cancelled a call at another process. */
const WATCH_MS = 1_000;

/**
 * The sessions of the revisions up to 2025-11-25. If there are too many, the one idle for longest is closed: its client
 * gets 404 and begins a new one. A session proves nothing: each request's own headers identify its caller. So another
 * process, or this one after a restart, opens a session that it does not know from its id alone, which holds all that
 * was agreed: the revision. That a client ended a session or cancelled a call is noted for all processes. That a session was
 * closed here because it was idle, or to make room, is not: another process may go on with it.
 */
export class Sessions {
  readonly #connect: () => McpServer;
  readonly #clock: () => number;
  readonly #notes: SessionNotes;
  readonly #limits: Limits;
  /** Sessions in the order of their last use. */
  readonly #open = new Map<string, Session>();
  readonly #ended = new Set<string>();
  readonly #resuming = new Map<string, Promise<Session | undefined>>();

  /** @param clock gives Unix milliseconds */
  constructor(connect: () => McpServer, clock: () => number, notes: SessionNotes, limits: Limits = LIMITS) {
    this.#connect = connect;
    this.#clock = clock;
    this.#notes = notes;
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Begins a session with its `initialize` request; null if all sessions are busy. */
  async begin(request: Request, message: unknown, client: string): Promise<Response | null> {
    this.#expire();
    if (!this.#makeRoom(client)) return null;
    return this.#initialize(`${randomUUID()}.${revisionOf(message)}`, request, message, client);
  }

  async #initialize(id: string, request: Request, message: unknown, client: string): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: async () => {
        this.#forget(id);
        await this.#notes.add(id, ENDED);
      },
    });
    const asked = new Set<RequestId>();
    noteAnswers(transport, asked);
    const usedAt = this.#clock();
    const running = new Set<RequestId>();
    const session = { id, server: this.#connect(), transport, client, usedAt, asked, running };
    this.#open.set(id, session);
    await session.server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: message });
    if (!response.ok) this.#end(session);
    return response;
  }

  /**
   * Serves a request of a session, or ends the session. Resolves to null if the session is not open.
   * @param client who asks
   * @throws invalid_request for the id of a request that is not answered yet: one of the two would get the answer of the other
   */
  async serve(id: string, request: Request, message: unknown, client: string): Promise<Response | null> {
    this.#expire();
    if (await this.#notes.has(id, ENDED)) {
      this.#endHere(id);
      return null;
    }
    // Two requests of one session may come before it is open.
    const resuming =
      this.#resuming.get(id) ?? (this.#open.has(id) ? undefined : this.#resumeOnce(id, request, client));
    const session = resuming === undefined ? this.#open.get(id) : await resuming;
    if (session === undefined) return null;
    this.#touch(session);
    const cancelled = cancelledBy(message);
    if (cancelled !== null && !session.asked.has(cancelled))
      await this.#notes.add(id, cancellationOf(cancelled));
    const asked = askedBy(message);
    if (asked !== null) {
      if (session.asked.has(asked)) throw idInUse();
      session.asked.add(asked);
    }
    const options = message === undefined ? {} : { parsedBody: message };
    const response = await session.transport.handleRequest(request, options);
    if (asked !== null && !response.ok) session.asked.delete(asked);
    if (cancelled !== null && session.asked.has(cancelled) && !session.running.has(cancelled))
      await forget(session, cancelled);
    return response;
  }

  async #resumeOnce(id: string, request: Request, client: string): Promise<Session | undefined> {
    const resuming = this.#resume(id, request, client);
    this.#resuming.set(id, resuming);
    return resuming.finally(() => this.#resuming.delete(id));
  }

  /** Opens a session that began in another process, as its client did there. */
  async #resume(id: string, { url }: Request, client: string): Promise<Session | undefined> {
    const protocolVersion = /^[\da-f-]{36}\.(\d{4}-\d\d-\d\d)$/.exec(id)?.[1];
    if (protocolVersion === undefined || this.#ended.has(id) || !this.#makeRoom(client)) return undefined;
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'resumed', version: '0' } };
    const message = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
    const response = await this.#initialize(
      id,
      new Request(url, { method: 'POST', headers }),
      message,
      client,
    );
    await response.body?.cancel();
    return this.#open.get(id);
  }

  /** Keeps the session of a call open while `work` runs. */
  async during<T>(call: RunningCall, work: () => Promise<T>): Promise<T> {
    const session = call.sessionId === undefined ? undefined : this.#open.get(call.sessionId);
    if (session === undefined) return work();
    session.running.add(call.id);
    const watch = setInterval(() => void this.#look(session, call.id).catch(() => undefined), WATCH_MS);
    try {
      return await work();
    } finally {
      clearInterval(watch);
      session.running.delete(call.id);
      if (this.#open.has(session.id)) this.#touch(session);
      if (call.cancelled.aborted) await forget(session, call.id);
    }
  }

  /** Stops a call that its client has cancelled, or whose session it has ended, at another process. */
  async #look({ id, transport }: Session, requestId: RequestId): Promise<void> {
    if (await this.#notes.has(id, ENDED)) this.#endHere(id);
    else if (await this.#notes.has(id, cancellationOf(requestId)))
      transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  }

  #endHere(id: string): void {
    const session = this.#open.get(id);
    if (session !== undefined) this.#end(session);
  }

  #touch(session: Session): void {
    session.usedAt = this.#clock();
    this.#open.delete(session.id);
    this.#open.set(session.id, session);
  }

  #forget(id: string): void {
    this.#open.delete(id);
    this.#ended.add(id);
    const oldest = this.#ended.keys().next();
    if (this.#ended.size > MAX_ENDED && !oldest.done) this.#ended.delete(oldest.value);
  }

  #end(session: Session): void {
    this.#forget(session.id);
    void session.server.close();
  }

  #expire(): void {
    const before = this.#clock() - this.#limits.idleMs;
    for (const session of this.#open.values()) {
      if (session.usedAt > before) return;
      if (session.running.size === 0) this.#end(session);
    }
  }

  #makeRoom(client: string): boolean {
    const own = [...this.#open.values()].filter((session) => session.client === client);
    if (own.length >= this.#limits.perClient) return this.#endFirstIdle(own);
    return this.#open.size < this.#limits.all || this.#endFirstIdle(this.#open.values());
  }

  #endFirstIdle(sessions: Iterable<Session>): boolean {
    for (const session of sessions) {
      if (session.running.size > 0) continue;
      this.#end(session);
      return true;
    }
    return false;
  }
}

/** The id of a request; null for any other message. */
function askedBy(message: unknown): RequestId | null {
  const { method, id } = (message ?? {}) as { method?: unknown; id?: unknown };
  if (typeof method !== 'string') return null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function idInUse(): TallyError {
  return new TallyError(
    'invalid_request',
    'A request with this id is not answered yet. Give each request of a session an id of its own.',
  );
}

/** Removes requests from `asked` once they are answered. */
function noteAnswers(transport: Session['transport'], asked: Set<RequestId>): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    try {
      await send(message, options);
    } finally {
      if (!('method' in message) && message.id !== undefined) asked.delete(message.id);
    }
  };
}

/** The id of the request that a message cancels; null for any other message. */
function cancelledBy(message: unknown): RequestId | null {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
  const id = method === 'notifications/cancelled' ? params?.requestId : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Note about a cancelled call. The client chose the id, so that only its hash is stored. */
function cancellationOf(id: RequestId): string {
  return `cancelled:${hash('sha256', JSON.stringify(id))}`;
}

/** The revision that a client asks for, as part of an id. */
function revisionOf(message: unknown): string {
  const { params } = message as { params?: { protocolVersion?: unknown } };
  const asked = String(params?.protocolVersion);
  return /^\d{4}-\d\d-\d\d$/.test(asked) ? asked : LATEST_PROTOCOL_VERSION;
}

/**
 * Closes the stream of a cancelled call. No response is due (2025-11-25, Cancellation), but the SDK would wait for one
 * with the stream open. A response sent after closing reaches nobody.
 */
async function forget({ transport, asked }: Session, id: RequestId): Promise<void> {
  if (!asked.has(id)) return;
  transport.closeSSEStream(id);
  await transport.send({ jsonrpc: '2.0', id, error: { code: -32_000, message: 'Cancelled' } });
}
