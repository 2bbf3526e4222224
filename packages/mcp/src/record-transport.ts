import { isObject, type JsonObject, RECEIPT_META_KEY, resultWithoutReceipt } from '@tallystick/core';
import type { Begun, Session, ToolOutcome, ToolServer } from '@tallystick/sdk';

/** A transport of the official SDKs, as far as recording needs it. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: JsonObject, options?: unknown): Promise<void>;
  onmessage?:
    | ((message: JsonObject, extra?: { request?: unknown; requestInfo?: unknown }) => void)
    | undefined;
  onclose?: (() => void) | undefined;
}

type Identity = Pick<ToolServer, 'name' | 'version'>;

/** JSON-RPC 2.0, section 5.1: invalid request, and internal error. */
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;

/** Records the tool calls that come over a transport, whose handlers are set. */
export function recordTransport(transport: McpTransport, session: Session, server: Identity): void {
  const { onmessage: deliver, onclose: closed } = transport;
  const send = transport.send.bind(transport);
  /** Calls that are not answered, by their JSON-RPC id. */
  const calls = new Map<unknown, Promise<Begun>>();

  const refuse = (id: unknown, message: string, error: unknown): Promise<void> =>
    send({
      jsonrpc: '2.0',
      id: id as string,
      error: { code: INTERNAL_ERROR, message: `${message}: ${textOf(error)}` },
    });

  /** Records that a call has no answer. Nobody waits for it any more, so nobody is told if that fails. */
  const cancel = async (id: unknown): Promise<void> => {
    const begun = calls.get(id);
    calls.delete(id);
    await begun?.then((call) => session.end(call, { outcome: 'cancelled' })).catch(() => undefined);
  };

  const onmessage: McpTransport['onmessage'] = (message, extra) => {
    const call = toolCallIn(message);
    const cancelled = cancelledBy(message);
    if (call !== null && calls.has(message['id'])) {
      // By its id alone, the answer to one would be recorded as that of the other.
      const text = 'A call with this id is not answered yet, so this one was not made.';
      const error = { code: INVALID_REQUEST, message: text };
      void send({ jsonrpc: '2.0', id: message['id'] as string, error }).catch(() => undefined);
    } else if (call !== null) {
      const origin = (extra?.requestInfo ?? extra?.request) === undefined ? 'stdio' : 'http';
      const begun = session.begin({
        ...call,
        server: { ...server, transport: origin, identity_sha256: null },
      });
      calls.set(message['id'], begun);
      begun.then(
        () => deliver?.(message, extra),
        (error: unknown) => {
          calls.delete(message['id']);
          return refuse(message['id'], 'The call could not be recorded, so it was not made', error);
        },
      );
    } else if (calls.has(cancelled)) {
      // The server must get the call first, and gets neither if the call could not be recorded.
      void calls.get(cancelled)?.then(
        () => deliver?.(message, extra),
        () => undefined,
      );
      void cancel(cancelled);
    } else {
      deliver?.(message, extra);
    }
  };

  const sendRecorded: McpTransport['send'] = async (message, options) => {
    const { id, result, error } = message;
    const begun = calls.get(id);
    if (begun === undefined || (result === undefined && error === undefined)) return send(message, options);
    calls.delete(id);
    try {
      const receipt = await session.end(await begun, endOf(message));
      return await send(
        isObject(result) ? { ...message, result: withReceipt(result, receipt) } : message,
        options,
      );
    } catch (reason) {
      return refuse(id, 'The result could not be recorded, so it is withheld', reason);
    }
  };

  const onclose = (): void => {
    for (const id of calls.keys()) void cancel(id);
    closed?.();
  };

  Object.assign(transport, { onmessage, onclose, send: sendRecorded });
}

/** The tool that a message calls; null if it calls none. */
function toolCallIn({ method, id, params }: JsonObject): { tool: string; arguments: unknown } | null {
  if (method !== 'tools/call' || id === undefined || !isObject(params)) return null;
  const { name, arguments: given } = params;
  return typeof name === 'string' && name !== '' ? { tool: name, arguments: given } : null;
}

/** Id of the request that a message cancels; undefined if it cancels none. */
function cancelledBy({ method, params }: JsonObject): unknown {
  return method === 'notifications/cancelled' && isObject(params) ? params['requestId'] : undefined;
}

function endOf({ result, error }: JsonObject): { outcome: ToolOutcome; result: unknown } {
  if (!isObject(result)) return { outcome: 'error', result: error };
  return {
    outcome: result['isError'] === true ? 'error' : 'completed',
    result: resultWithoutReceipt(result),
  };
}

function withReceipt(result: JsonObject, receipt: string): JsonObject {
  const meta = isObject(result['_meta']) ? result['_meta'] : {};
  return { ...result, _meta: { ...meta, [RECEIPT_META_KEY]: JSON.parse(receipt) } };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
