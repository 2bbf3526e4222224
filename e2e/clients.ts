import { canonicalize, type JsonObject, type JsonValue, sha256Hex, utf8 } from '@tallystick/core';
import { type CheckedTrust, checkTrust, verifyReceipt } from '@tallystick/sdk';
import { expect } from 'vitest';
import type { Svc } from '../packages/server/test/compute.ts';
import { startUpstream, type Upstream } from '../packages/server/test/upstream.ts';
import { type Ended, type Env, serve, temporaryFolder } from './process.ts';

/** An upstream's name of a model, by which its clients call it. */
export const MODEL = 'gpt-4o-mini';
/** What a client of the upstream would send; nobody's here. */
export const STRANGE_KEY = 'sk-of-somewhere-else';
/** What the service is let in with at the upstream. */
export const OPERATOR_KEY = 'sk-operator-secret-0123456789';

/** A service in a process of its own, in front of a local upstream. */
export interface Untrusted {
  readonly url: string;
  /** What a stock client is given, beside a key. */
  readonly baseURL: string;
  readonly upstream: Upstream;
  /** The request hash of what was sent last, as the upstream saw it; without the limit that the service adds. */
  sentHash(): string;
  /** Resolves to what the process said. */
  close(): Promise<Ended>;
}

export interface Front extends Untrusted {
  readonly trust: CheckedTrust;
}

/** For development, unless `env` says otherwise. */
export async function serveUntrusted(env: Env, given?: Upstream): Promise<Untrusted> {
  const upstream = given ?? (await startUpstream());
  const service = await serve({
    TALLY_DEVNET: 'off',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    OPENAI_API_KEY: OPERATOR_KEY,
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

export async function serveFront(): Promise<Front> {
  const front = await serveUntrusted({ TALLY_DATA_DIR: temporaryFolder() });
  return { ...front, trust: await trustIn(front.url) };
}

export async function trustIn(url: string): Promise<CheckedTrust> {
  return checkTrust(await (await fetch(`${url}/.well-known/trust.json`)).text());
}

/** Asserts that a receipt verifies offline and that it covers what was sent and what came. Gives its `svc`. */
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

/** As spec/compute.md defines it, of a request or of an answer in one piece: as JSON text, or as it was parsed. */
export function hashOf(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { svc: _svc, ...covered } = JSON.parse(text) as JsonObject;
  return `sha256:${sha256Hex(utf8(canonicalize(covered)))}`;
}

/** The `svc` of a stream, of its chunks as a client parsed them, and the hash of those before it. */
export function streamed(chunks: readonly unknown[]): { svc: JsonValue; response: string } {
  const isLast = (chunk: unknown): boolean => (chunk as JsonObject)['svc'] !== undefined;
  const end = chunks.findIndex(isLast);
  expect(end, 'the last chunk carries svc').toBe(chunks.length - 1);
  const covered = chunks.slice(0, end).map((chunk) => `${JSON.stringify(chunk)}\n`);
  const svc = (chunks.at(-1) as JsonObject)['svc'] ?? null;
  return { svc, response: `sha256:${sha256Hex(utf8(covered.join('')))}` };
}
