import { canonicalize, type JsonObject, type JsonValue, sha256Hex, utf8 } from '@tallystick/core';
import { type CheckedTrust, checkTrust, verifyReceipt } from '@tallystick/sdk';
import { expect } from 'vitest';
import type { Svc } from '../packages/server/test/compute.ts';
import { MODELS_FILE } from '../packages/server/test/models.ts';
import { startUpstream, type Upstream } from '../packages/server/test/upstream.ts';
import { type Ended, type Env, serve, temporaryFolder } from './process.ts';

/** Name of a model by which clients call the upstream. */
export const MODEL = 'gpt-4o-mini';
/** Name of a model of Anthropic's by which clients call the upstream. */
export const CLAUDE = 'claude-haiku-4-5';
/** Key that a client of the upstream would send; it is valid nowhere. */
export const STRANGE_KEY = 'sk-of-somewhere-else';
/** Key with which the service calls the upstream. */
export const OPERATOR_KEY = 'sk-operator-secret-0123456789';

/** A service in a process of its own, in front of a local upstream, whose trust bundle was not fetched. */
export interface Untrusted {
  readonly url: string;
  /** Base URL for a stock client, which also needs a key. */
  readonly baseURL: string;
  readonly upstream: Upstream;
  /** Hash of the request that was sent last, as the upstream received it, without the limit that the service adds. */
  sentHash(): string;
  /** Resolves to the output of the process. */
  close(): Promise<Ended>;
}

export interface Front extends Untrusted {
  readonly trust: CheckedTrust;
}

/** Starts a service for development, unless `env` says otherwise. */
export async function serveUntrusted(env: Env, ownUpstream?: Upstream): Promise<Untrusted> {
  const upstream = ownUpstream ?? (await startUpstream());
  const service = await serve({
    TALLY_DEVNET: 'off',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    OPENAI_API_KEY: OPERATOR_KEY,
    TALLY_CONFIG: MODELS_FILE,
    ...env,
  });
  const { url } = service;
  return {
    url,
    baseURL: `${url}/v1/compute`,
    upstream,
    sentHash() {
      const { max_completion_tokens: _limit, ...body } = upstream.requests.at(-1)?.body ?? {};
      return hashOf(body);
    },
    async close() {
      const ended = await service.kill('SIGTERM');
      await upstream.close();
      return ended;
    },
  };
}

/** Its upstream speaks OpenAI's and Anthropic's APIs. */
export async function serveFront(): Promise<Front> {
  const upstream = await startUpstream();
  const front = await serveUntrusted(
    {
      TALLY_DATA_DIR: temporaryFolder(),
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: OPERATOR_KEY,
    },
    upstream,
  );
  return { ...front, trust: await trustIn(front.url) };
}

export async function trustIn(url: string): Promise<CheckedTrust> {
  return checkTrust(await (await fetch(`${url}/.well-known/trust.json`)).text());
}

/** Asserts that a receipt verifies offline and covers the request and the answer. Returns its `svc`. */
export async function expectReceipt(
  { trust }: Pick<Front, 'trust'>,
  svc: unknown,
  hashes: { readonly request: string; readonly response: string },
): Promise<Svc> {
  const known = svc as Svc;
  expect(await verifyReceipt(known.receipt, { trust })).toMatchObject({
    valid: true,
    issuer: { trusted: true },
  });
  expect(known.receipt).toMatchObject({
    request: { hash: hashes.request },
    response: { hash: hashes.response },
  });
  return known;
}

/** The hash of a request or of an answer in one piece, as JSON text or parsed (spec/compute.md). */
export function hashOf(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { svc: _svc, ...covered } = JSON.parse(text) as JsonObject;
  return `sha256:${sha256Hex(utf8(canonicalize(covered)))}`;
}

/** The `svc` of a stream, from its parsed chunks, and the hash of the chunks before it. */
export function streamed(chunks: readonly unknown[]): { svc: JsonValue; response: string } {
  const isLast = (chunk: unknown): boolean => (chunk as JsonObject)['svc'] !== undefined;
  const end = chunks.findIndex(isLast);
  expect(end, 'the last chunk carries svc').toBe(chunks.length - 1);
  const { svc = null, ...last } = chunks.at(-1) as JsonObject;
  const hashed = last['usage'] === undefined ? [] : [canonicalize(last)];
  const texts = [...chunks.slice(0, end).map((chunk) => JSON.stringify(chunk)), ...hashed];
  const covered = texts.map((text) => `${text}\n`);
  return { svc, response: `sha256:${sha256Hex(utf8(covered.join('')))}` };
}
