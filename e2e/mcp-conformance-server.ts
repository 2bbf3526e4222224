// What the conformance suite of MCP wants of a server, over stdio; or over HTTP where the first argument is `http`, on a free port that is
// printed.
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { addConformanceFixture } from '../packages/server/test/mcp-fixture.ts';
import { serveSessions } from './mcp-over-http.ts';

function fixture(): McpServer {
  const server = new McpServer({ name: 'conformance', version: '1' }, { capabilities: { logging: {} } });
  addConformanceFixture(server);
  return server;
}

if (process.argv[2] === 'http') await serveSessions((transport) => fixture().connect(transport));
else await fixture().connect(new StdioServerTransport());
