import { isObject, type JsonObject, type JsonValue, parseJson, utf8 } from '@tallystick/core';
import type { Documents } from '../documents.ts';
import type { Answer, Inspection } from '../inspection.ts';

const REVISION = '2025-06-18';
const ACCEPT = { accept: 'application/json, text/event-stream' };
const MISSING: ReadonlySet<number> = new Set([404, 405, 501]);

/** Checks whether an MCP client can get the list of tools. */
export async function checkMcp(inspection: Inspection, { places: { mcp } }: Documents): Promise<boolean> {
  if (mcp === null) return false;
  const { found, well, ask } = inspection;
  const hello = await ask(mcp, {
    headers: ACCEPT,
    body: request(1, 'initialize', {
      protocolVersion: REVISION,
      capabilities: {},
      clientInfo: { name: 'prospector', version: '1' },
    }),
  });
  if (hello === null) return false;
  if (MISSING.has(hello.status)) {
    found('mcp_missing', `It answered ${hello.status}.`, hello);
    return true;
  }
  const begun = resultOf(hello, 1);
  const revision = begun?.['protocolVersion'];
  if (typeof revision !== 'string' || !isObject(begun?.['serverInfo']) || !isObject(begun['capabilities'])) {
    found('mcp_initialize_invalid', `It answered ${hello.status} without a whole result.`, hello);
    return true;
  }
  const session = hello.headers.get('mcp-session-id');
  const headers = {
    ...ACCEPT,
    'mcp-protocol-version': revision,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
  if ((await ask(mcp, { headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } })) === null)
    return false;
  const listing = await ask(mcp, { headers, body: request(2, 'tools/list', {}) });
  if (session !== undefined) await ask({ method: 'DELETE', path: mcp.path }, { headers });
  if (listing === null) return false;
  const fault = toolsFault(resultOf(listing, 2)?.['tools']);
  if (fault === null) well('mcp', `Revision ${revision}; its tools are listed with their schemas.`);
  else found('mcp_tools_invalid', `It answered ${listing.status}: ${fault}.`, listing);
  return true;
}

function request(id: number, method: string, params: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, method, params };
}

function toolsFault(tools: JsonValue | undefined): string | null {
  if (!Array.isArray(tools)) return 'there is no list of tools';
  if (tools.length === 0) return 'the list is empty';
  const bad = tools.findIndex((tool) => {
    if (!isObject(tool) || typeof tool['name'] !== 'string') return true;
    const schema = tool['inputSchema'];
    return !isObject(schema) || schema['type'] !== 'object';
  });
  return bad < 0 ? null : `tools[${bad}] lacks its name or its inputSchema`;
}

/** The result of the JSON-RPC response with this id, in a JSON body or in server-sent events. */
function resultOf({ status, headers, json, body }: Answer, id: number): JsonObject | null {
  if (status !== 200) return null;
  const events = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const messages = events ? messagesIn(new TextDecoder().decode(body)) : [json];
  const message = messages.find((one) => isObject(one) && one['id'] === id);
  const result = isObject(message) ? message['result'] : undefined;
  return isObject(result) ? result : null;
}

function messagesIn(stream: string): JsonValue[] {
  return stream.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = [...event.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join('\n');
    try {
      return data === '' ? [] : [parseJson(utf8(data))];
    } catch {
      return [];
    }
  });
}
