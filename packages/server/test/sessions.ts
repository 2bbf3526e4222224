import {
  type JsonObject,
  SessionRecorder,
  type SessionSigner,
  type ToolServer,
  type TrustBundle,
  trustOf,
  verifySession,
} from '@tallystick/core';
import type { Reply, TestService } from './service.ts';

export const SALT = new Uint8Array(32).fill(7);
export const SERVER: ToolServer = {
  name: 'filesystem',
  version: '1.0.0',
  transport: 'stdio',
  identity_sha256: null,
};

type RequestHeaders = Readonly<Record<string, string>>;

/** A request that the service refused. */
export class Refused extends Error {
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(reply.text);
    this.reply = reply;
  }
}

/** The request by which a recorder has a step signed. */
export function requestOf({ call, request, response }: Parameters<SessionSigner>[0]): [string, JsonObject] {
  if (call.kind === 'session' && call.event === 'open') {
    const { session, salt_commitment, continues, parent } = call;
    return [
      '/v1/sessions',
      {
        session_id: session.id,
        salt_commitment,
        ...(continues && { continues }),
        ...(parent && { parent }),
      },
    ];
  }
  const body = { call: call as JsonObject, request_hash: request, response_hash: response };
  return [`/v1/sessions/${call.session.id}/receipts`, body];
}

/** Signs through the service. Rejects with `Refused`. */
export function through(
  service: Pick<TestService, 'post'>,
  headers: RequestHeaders = {},
  more: JsonObject = {},
): SessionSigner {
  return async (entry) => {
    const [path, body] = requestOf(entry);
    const reply = await service.post(path, { ...body, ...more }, headers);
    if (reply.status !== 201 && reply.status !== 200) throw new Refused(reply);
    return reply.text;
  };
}

export const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

/** A session that is opened through the service. */
export async function openThrough(sign: SessionSigner): Promise<SessionRecorder> {
  const { recorder } = await SessionRecorder.open({ sign, salt: SALT, random });
  return recorder;
}

export function call(tool: string) {
  return {
    tool,
    server: SERVER,
    outcome: 'completed' as const,
    arguments: { json: { path: `/${tool}` } },
    result: { json: 'done' },
  };
}

/** What the service has of a session, and the verdict on it by the service's own trust bundle. */
export async function sessionOf(service: TestService, id: string, headers: RequestHeaders = {}) {
  const reply = await service.get(`/v1/sessions/${id}`, headers);
  const bundle = (await service.get('/.well-known/trust.json')).json as unknown as TrustBundle;
  const verdict = await verifySession(reply.text, {
    now: service.clock(),
    trust: trustOf(bundle.issuers, [bundle]),
  });
  return { reply, lines: reply.text.split('\n').slice(0, -1), verdict };
}
