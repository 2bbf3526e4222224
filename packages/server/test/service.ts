import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorTable, type JsonObject } from '@tallystick/core';
import { Client } from 'pg';
import { expect } from 'vitest';
import { afterEachFile } from '../../../scripts/end-of-file.ts';
import type { Grant } from '../../callers/src/api-key.ts';
import { UNIX_SOCKET } from '../../callers/src/clients.ts';
import { createApiKey } from '../../callers/src/manage-api-keys.ts';
import { withApiKeySecret } from '../../issuers/src/keyring.ts';
import { createApp } from '../src/app/app.ts';
import { listen } from '../src/app/listen.ts';
import { openServices } from '../src/app/services.ts';
import { summed } from '../src/app/workers/summed-metrics.ts';
import { type Config, readConfig } from '../src/config/config.ts';
import { type Answered, finishedOf } from '../src/http/answered.ts';
import type { Services } from '../src/services.ts';
import { BALANCED, BALANCER, startBalancer } from './balancer.ts';
import { DocumentedAnswers } from './documented.ts';
import { startPostgres, type TestPostgres } from './postgres.ts';
import { serverFolder } from './server-folders.ts';

/** Whether one process serves, and nothing is between it and its clients. */
export const ALONE = BALANCER === undefined;

/** The adapters that behaviour which touches the store is tested on. */
export const DATABASES = ['sqlite', 'postgres'] as const;
type DatabaseKind = (typeof DATABASES)[number];

/** A clock that a test can advance. Unix milliseconds. */
export interface TestClock {
  (): number;
  advance(milliseconds: number): void;
}

/** Stands still until it is advanced. */
export function testClock(start = Date.UTC(2027, 2, 1, 12, 0, 0, 250)): TestClock {
  let now = start;
  return Object.assign(() => now, {
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
  });
}

/** The real time, until it is advanced: for what goes by a chain's blocks. */
export function runningClock(): TestClock {
  let ahead = 0;
  return Object.assign(() => Date.now() + ahead, {
    advance: (milliseconds: number) => {
      ahead += milliseconds;
    },
  });
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; null where it is not JSON. */
  readonly json: JsonObject;
}

type RequestHeaders = Readonly<Record<string, string>>;

/**
 * The whole service in this process, over a data directory or database of its own; requests need no port. With
 * `TALLY_TEST_BALANCER` there are three that share nothing but their data and their clock, and each request goes to the next one.
 */
export interface TestService {
  /** The first one, if there are several; so are the services. */
  readonly app: ReturnType<typeof createApp>;
  readonly services: Services;
  /** The services of each process; one alone, without a balancer. */
  readonly processes: readonly Services[];
  readonly config: Config;
  readonly clock: TestClock;
  /**
   * A text or bytes are sent as they are, anything else as JSON. This and the other two fail if the answer is not what the OpenAPI
   * document says.
   */
  post(path: string, body: unknown, headers?: RequestHeaders): Promise<Reply>;
  get(path: string, headers?: RequestHeaders): Promise<Reply>;
  request(path: string, init: RequestInit): Promise<Reply>;
  /** Resolves once the lists have every call that was answered. */
  listed(): Promise<void>;
  /** Closes the services and opens them again on the same data. */
  restart(): Promise<void>;
  /** Serves the same app on a loopback port until `close`. Resolves to its URL. */
  listen(): Promise<string>;
  close(): Promise<void>;
}

export interface TestServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: TestClock;
  readonly database?: DatabaseKind;
  /** What is there before the service is opened for the first time. */
  readonly prepare?: (config: Config) => void;
}

/** The database of a test file, in which each service has a schema of its own. */
interface FileDatabase {
  readonly server: TestPostgres;
  readonly name: string;
  readonly url: string;
  readonly client: Client;
}

/** One for all test files of a process. `scripts/before-tests.ts` stops it after the last test. */
let server: Promise<TestPostgres> | undefined;
let opened: Promise<FileDatabase> | undefined;
let databases = 0;
let schemas = 0;

// Drops the database of a test file.
afterEachFile(async () => {
  const database = await opened;
  opened = undefined;
  await database?.client.end();
  await database?.server.drop(database.name);
});

export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const { env = {}, clock = testClock(), database = 'sqlite' } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-service-'));
  const asked = readConfig({
    TALLY_DATA_DIR: dataDir,
    TALLY_LOG_LEVEL: 'silent',
    TALLY_DEVNET: 'off',
    TALLY_HANDLE: 'local',
    ...(database === 'postgres' ? { TALLY_DATABASE_URL: await newDatabase() } : {}),
    ...env,
  });
  const config: Config =
    BALANCER === undefined ? asked : { ...asked, trustedProxies: [...asked.trustedProxies, UNIX_SOCKET] };
  options.prepare?.(config);
  let opened = await openAll(config, clock);
  const closing: (() => Promise<void>)[] = [];
  const at = (index: number): Opened => opened[index % opened.length] as Opened;
  const closeAll = async (): Promise<void> => {
    // The first one has the development chain.
    for (const { services } of opened.toReversed()) await services.close();
  };

  let requests = 0;
  const request = async (path: string, init: RequestInit): Promise<Reply> => {
    const reply = await toReply(await at(requests++).app.request(path, init));
    documented ??= readDocument(at(0).app);
    const fault = (await documented).faultOf({ ...reply, path, method: init.method ?? 'GET' });
    expect(fault, 'The OpenAPI document lacks it').toBeNull();
    return reply;
  };
  return {
    get app() {
      return at(0).app;
    },
    get services() {
      return at(0).services;
    },
    get processes() {
      return opened.map(({ services }) => services);
    },
    config,
    clock,
    request,
    post: (path, body, headers = {}) => {
      const raw = typeof body === 'string' || body instanceof Uint8Array;
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
      return request(path, { ...init, body: raw ? (body as BodyInit) : JSON.stringify(body) });
    },
    get: (path, headers = {}) => request(path, { headers }),
    async listed() {
      await Promise.all(opened.map(({ services }) => services.compute.listed()));
    },
    async restart() {
      await closeAll();
      opened = await openAll(config, clock);
    },
    async listen() {
      const listenFor = async (index: number, host: string): Promise<number> => {
        const open = async () => ({ fetch: at(index).app.fetch, close: async () => {} });
        const { address, close } = await listen({ host, port: 0, open });
        closing.push(close);
        return address.port;
      };
      if (BALANCER === undefined) return `http://127.0.0.1:${await listenFor(0, '127.0.0.1')}`;
      const folder = mkdtempSync(join(dataDir, 'balancer-'));
      const sockets = opened.map((_, index) => join(folder, `${index}`));
      const balancer = await startBalancer(BALANCER, sockets, folder);
      await Promise.all(sockets.map((path, index) => listenFor(index, `unix:${path}`)));
      closing.push(balancer.close);
      return balancer.url;
    },
    async close() {
      for (const close of closing) await close();
      await closeAll();
      rmSync(dataDir, { recursive: true });
    },
  };
}

interface Opened {
  readonly services: Services;
  readonly app: ReturnType<typeof createApp>;
}

async function openAll(config: Config, clock: TestClock): Promise<Opened[]> {
  const opened: Opened[] = [];
  // As where several workers share a port, /metrics tells what all have counted, whichever answers.
  const exposition = async (): Promise<string> => {
    await Promise.all(opened.map(({ services }) => services.measure()));
    return summed(
      await Promise.all(opened.map(({ services }) => services.metrics.registry.getMetricsAsJSON())),
    );
  };
  const open = async (own: Config): Promise<Opened> => {
    const services = await openServices(own, clock);
    return { services, app: createApp(services, BALANCER === undefined ? {} : { exposition }) };
  };
  opened.push(await open(config));
  if (BALANCER === undefined) return opened;
  const { dataDir, chain } = config;
  const rpcUrl = chain.devnet
    ? readFileSync(join(dataDir, 'devnet', 'rpc-url'), 'utf8').trim()
    : chain.rpcUrl;
  while (opened.length < BALANCED) opened.push(await open({ ...config, chain: { ...chain, rpcUrl } }));
  return opened;
}

/** A schema of its own in one database: made in a fiftieth of the time that a database takes. */
async function newDatabase(): Promise<string> {
  opened ??= openDatabase();
  const { client, url } = await opened;
  schemas += 1;
  await client.query(`create schema service_${schemas}`);
  return `${url}?options=-csearch_path%3Dservice_${schemas}`;
}

async function openDatabase(): Promise<FileDatabase> {
  server ??= startPostgres(serverFolder());
  databases += 1;
  const name = `services_${databases}`;
  const url = await (await server).url(name);
  const client = new Client({ connectionString: url });
  await client.connect();
  return { server: await server, name, url, client };
}

/** What the OpenAPI document says of answers: the same for all services of a process, whatever their configuration. */
let documented: Promise<DocumentedAnswers> | undefined;

/** Asks as the service's own probe, so that no test finds the request in a metric or a line of the log. */
async function readDocument(app: Opened['app']): Promise<DocumentedAnswers> {
  const answered: Answered = await app.request('/openapi.json', {}, { probe: true });
  const { body } = finishedOf(answered);
  return new DocumentedAnswers((await new Response(body).json()) as JsonObject);
}

export async function toReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const isJson = text !== '' && /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null };
}

/** A fresh API key of the service, as the header that carries it. */
export async function apiKey(service: TestService, tier: Grant): Promise<{ authorization: string }> {
  const { store, issuer } = service.services;
  const { apiKeySecret } = withApiKeySecret(issuer.keyring);
  const { key } = await createApiKey(store, apiKeySecret, { tier, label: null, now: service.clock() });
  return { authorization: `Bearer ${key}` };
}

/** Has each of several processes tell the others what it learned of calls, as it does every second. One alone knows it at once. */
export async function shareLearned({ processes }: TestService): Promise<void> {
  if (!ALONE) await Promise.all(processes.map(({ compute }) => compute.learn()));
}

/** The id of a receipt of the envelope or of a profile. */
export function receiptIdOf(receipt: string): string {
  const { receipt_id, receipt: reference } = JSON.parse(receipt) as {
    receipt_id?: string;
    receipt?: { id: string };
  };
  return receipt_id ?? reference?.id ?? '';
}

/** Asserts an RFC 9457 problem document with this code, and the status that the table gives to it. */
export function expectProblem(reply: Reply, code: keyof typeof errorTable, field?: string): void {
  const { status, title } = errorTable[code];
  expect(reply.json, reply.text).toMatchObject({ code });
  expect(reply.status).toBe(status);
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
  expect(reply.json).toEqual({
    type: expect.stringMatching(new RegExp(`/docs/errors#${code}$`)),
    title,
    status,
    detail: expect.stringMatching(/\S/),
    code,
    ...(field === undefined ? {} : { field }),
    instance: `urn:request:${reply.headers.get('x-request-id')}`,
  });
}
