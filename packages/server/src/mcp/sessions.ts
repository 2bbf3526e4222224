import { randomUUID } from 'node:crypto';
import { type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

interface Session {
  readonly id: string;
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** `Clients.group` of the client that opened it. */
  readonly client: string;
  /** Unix milliseconds. */
  usedAt: number;
  /** Number of running calls. */
  busy: number;
}

interface Limits {
  readonly all: number;
  readonly perClient: number;
  readonly idleMs: number;
}

export interface RunningCall {
  /** Undefined if it is stateless. */
  readonly sessionId: string | undefined;
  readonly id: string | number;
  /** Aborts when the client cancels it. */
  readonly cancelled: AbortSignal;
}

const LIMITS: Limits = { all: 1_000, perClient: 100, idleMs: 1_800_000 };

/**
 * The sessions of the revisions up to 2025-11-25, in this process. If there are too many, the one idle for longest is
 * closed: its client gets 404 and begins a new one. A session proves nothing: each request's own headers identify its
 * caller.
 */
export class Sessions {
  readonly #connect: () => McpServer;
  readonly #clock: () => number;
  readonly #limits: Limits;
  /** Sessions in the order of their last use. */
  readonly #open = new Map<string, Session>();

  /** @param clock gives Unix milliseconds */
  constructor(connect: () => McpServer, clock: () => number, limits: Limits = LIMITS) {
    this.#connect = connect;
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Begins a session with its `initialize` request; null if all sessions are busy. */
  async begin(request: Request, message: unknown, client: string): Promise<Response | null> {
    this.#expire();
    if (!this.#makeRoom(client)) return null;
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => void this.#open.delete(id),
    });
    const session = { id, server: this.#connect(), transport, client, usedAt: this.#clock(), busy: 0 };
    this.#open.set(id, session);
    await session.server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: message });
    if (!response.ok) this.#end(session);
    return response;
  }

  /** Serves a request of a session, or ends it; null if it is not open. */
  async serve(id: string, request: Request, message?: unknown): Promise<Response | null> {
    this.#expire();
    const session = this.#open.get(id);
    if (session === undefined) return null;
    this.#touch(session);
    return session.transport.handleRequest(request, message === undefined ? {} : { parsedBody: message });
  }

  /** Keeps the session of a call open while `work` runs. */
  async during<T>(call: RunningCall, work: () => Promise<T>): Promise<T> {
    const session = call.sessionId === undefined ? undefined : this.#open.get(call.sessionId);
    if (session === undefined) return work();
    session.busy += 1;
    try {
      return await work();
    } finally {
      session.busy -= 1;
      if (this.#open.has(session.id)) this.#touch(session);
      if (call.cancelled.aborted) await forget(session, call.id);
    }
  }

  #touch(session: Session): void {
    session.usedAt = this.#clock();
    this.#open.delete(session.id);
    this.#open.set(session.id, session);
  }

  #end(session: Session): void {
    this.#open.delete(session.id);
    void session.server.close();
  }

  #expire(): void {
    const before = this.#clock() - this.#limits.idleMs;
    for (const session of this.#open.values()) {
      if (session.usedAt > before) return;
      if (session.busy === 0) this.#end(session);
    }
  }

  #makeRoom(client: string): boolean {
    const own = [...this.#open.values()].filter((session) => session.client === client);
    if (own.length >= this.#limits.perClient) return this.#endFirstIdle(own);
    return this.#open.size < this.#limits.all || this.#endFirstIdle(this.#open.values());
  }

  #endFirstIdle(sessions: Iterable<Session>): boolean {
    for (const session of sessions) {
      if (session.busy > 0) continue;
      this.#end(session);
      return true;
    }
    return false;
  }
}

/**
 * Closes the stream of a cancelled call. No response is due (2025-11-25, Cancellation), but the SDK would wait for one
 * with the stream open. A response sent after closing reaches nobody.
 */
async function forget({ transport }: Session, id: string | number): Promise<void> {
  transport.closeSSEStream(id);
  await transport.send({ jsonrpc: '2.0', id, error: { code: -32_000, message: 'Cancelled' } });
}
