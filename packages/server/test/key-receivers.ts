import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';
import type { JsonObject } from '@tallystick/core';
import { SMTPServer } from 'smtp-server';

/** What is received, in its order: a test takes each out once. */
interface Inbox<T> {
  put(one: T): void;
  next(): Promise<T>;
  count(): number;
}

function inbox<T>(): Inbox<T> {
  const items: T[] = [];
  const waiting: ((one: T) => void)[] = [];
  return {
    count: () => items.length,
    put: (one) => {
      const taker = waiting.shift();
      if (taker === undefined) items.push(one);
      else taker(one);
    },
    next: () => {
      const one = items.shift();
      return one === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(one);
    },
  };
}

interface Letter {
  readonly to: readonly string[];
  /** With its headers, decoded as far as plain text needs it. */
  readonly text: string;
}

/** A real mail server on loopback. */
export interface Mailbox {
  readonly env: { readonly TALLY_SMTP_URL: string; readonly TALLY_SMTP_FROM: string };
  /** Whether it takes letters, from now on. */
  accepts(on: boolean): void;
  next(): Promise<Letter>;
  take(count: number): Promise<Letter[]>;
  close(): Promise<void>;
}

export async function openMailbox(): Promise<Mailbox> {
  const letters = inbox<Letter>();
  let open = true;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, done) => done(open ? null : new Error('Not now.')),
    async onData(stream, session, done) {
      const raw = await text(stream);
      const to = session.envelope.rcptTo.map(({ address }) => address);
      letters.put({ to, text: raw.replaceAll('=\r\n', '').replaceAll('=3D', '=') });
      done();
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    env: { TALLY_SMTP_URL: `smtp://127.0.0.1:${port}`, TALLY_SMTP_FROM: 'keys@tally.example' },
    accepts: (on) => {
      open = on;
    },
    next: () => letters.next(),
    async take(count) {
      const taken: Letter[] = [];
      while (taken.length < count) taken.push(await letters.next());
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

interface KeyDocument extends JsonObject {
  readonly key: string;
}

interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly document: KeyDocument;
}

/** A domain that takes keys, on loopback. */
export interface KeyHook {
  readonly domain: string;
  next(): Promise<Delivery>;
  count(): number;
  close(): Promise<void>;
}

export async function openKeyHook(): Promise<KeyHook> {
  const deliveries = inbox<Delivery>();
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const document = (await json(request)) as KeyDocument;
    deliveries.put({ path: request.url ?? '', headers: request.headers, document });
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    domain: `localhost:${port}`,
    next: () => deliveries.next(),
    count: () => deliveries.count(),
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
