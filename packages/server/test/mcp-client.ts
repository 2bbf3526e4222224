import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '@tallystick/core';

/** A session, and no session. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

/** The SDK's own client, connected to `<url>/mcp` in one revision, with these headers on each request. */
export async function connectMcp(
  url: string,
  revision: Revision,
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  // Holds the client to check results by the schemas that are listed.
  await client.listTools();
  return client;
}

export interface ToolReply {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: JsonObject | undefined;
  /** The text as JSON: the answer of the endpoint, or its problem document. */
  readonly json: JsonObject;
  /** What the endpoint says in headers. */
  readonly headers: Readonly<Record<string, string>>;
}

export async function callTool(
  client: Client,
  name: string,
  args: JsonObject = {},
  signal?: AbortSignal,
): Promise<ToolReply> {
  const result = await client.callTool({ name, arguments: args }, signal ? { signal } : {});
  const { _meta: meta } = result;
  const [block] = result.content as { type: string; text: string }[];
  const text = block?.text ?? '';
  return {
    isError: result.isError === true,
    text,
    structured: result.structuredContent as JsonObject | undefined,
    json: JSON.parse(text) as JsonObject,
    headers: (meta?.['tallystick/headers'] ?? {}) as Record<string, string>,
  };
}
