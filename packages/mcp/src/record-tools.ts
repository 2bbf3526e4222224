import type { Session } from '@tallystick/sdk';
import { type McpTransport, recordTransport } from './record-transport.ts';

/** The part of a server of the official SDKs that recording needs. */
interface ProtocolServer {
  connect(transport: never): Promise<void>;
}

/** `McpServer` or `Server` of `@modelcontextprotocol/server` 2, or of `@modelcontextprotocol/sdk` 1. */
export type RecordableServer = ProtocolServer | { readonly server: ProtocolServer };

/**
 * Records each tool call of a server in a session, and returns the server. Call it before `connect`. Each result carries its
 * receipt in `_meta` under `tallystick/receipt`; nothing else of it changes.
 *
 * A call that can't be noted in the session is not made, and a result whose receipt can't be kept is not sent: the client gets
 * an error. A call is recorded as `cancelled` when its client cancels it or goes away.
 */
export function recordTools<S extends RecordableServer>(server: S, session: Session): S {
  const protocol: ProtocolServer = 'server' in server ? server.server : server;
  const connect = protocol.connect.bind(protocol) as (transport: McpTransport) => Promise<void>;
  protocol.connect = (transport: McpTransport) => {
    const start = transport.start.bind(transport);
    // The server sets its handlers on the transport before it starts it, and no message comes earlier.
    transport.start = () => {
      recordTransport(transport, session, identityOf(protocol));
      return start();
    };
    return connect(transport);
  };
  return server;
}

/** Name and version that the server tells its clients. Both SDKs keep them in a member that their types call private. */
function identityOf(protocol: object): { readonly name: string; readonly version: string | null } {
  const { _serverInfo: info } = protocol as { _serverInfo?: { name?: string; version?: string } };
  return { name: info?.name || 'mcp', version: info?.version || null };
}
