import { type Command, Option } from 'commander';
import { apiKeyOption } from '../api-key.ts';
import { CLIENTS, type ClientName } from '../mcp/clients.ts';
import type { InstallOptions } from '../mcp/install.ts';
import type { ListenAddress, WrapOptions } from '../mcp/wrap.ts';
import { UsageError } from '../output.ts';
import { serviceUrl } from '../service.ts';

/** `tally mcp`: a proxy that records the tool calls of an MCP client. What runs it is loaded when it is needed. */
export function mcpCommands(program: Command): void {
  const mcp = program
    .command('mcp')
    .summary('record the tool calls of an MCP client')
    .description(
      'Stands in front of a server of the Model Context Protocol, and signs a receipt for each tool call.',
    );
  mcp
    .command('wrap')
    .argument('[command...]', 'after --: the server to start, and its arguments')
    .usage('[options] (-- <command> [arguments...] | --server <url>)')
    .summary('stand in front of a server')
    .description(
      'Passes everything between a client and a server, signs a receipt for each tool call, adds it to the result, and keeps all receipts as a session.',
    )
    .option('--session <file>', 'where to keep the session (a new file in $TALLY_HOME/sessions)')
    .option('--key <file>', 'the key file that signs ($TALLY_HOME/recorder.json, made on first use)')
    .option('--url <service>', 'the service that signs, instead of a key', serviceUrl)
    .option('--anchor-at <service>', 'anchor the newest receipt there each ten minutes', serviceUrl)
    .addOption(apiKeyOption())
    .addOption(
      new Option('--format <format>', 'write receipts of another form beside the session’s').choices([
        'acta',
      ]),
    )
    .option('--server <url>', 'a server that is reached by Streamable HTTP', serverUrl)
    .option(
      '--listen <[host:]port>',
      'with --server: listen for clients there, instead of stdio',
      listenAddress,
    )
    .addOption(
      repeated(
        '--header-from <name=variable>',
        'with --server: a header to send, and the environment variable of its value; repeatable',
      ),
    )
    .addOption(
      repeated('--allow <tool>', 'only these tools may be called; * stands for any characters; repeatable'),
    )
    .addOption(repeated('--deny <tool>', 'tools that may not be called; wins over the others; repeatable'))
    .addOption(repeated('--ask <tool>', 'tools that the user has to allow at each call; repeatable'))
    .addHelpText('after', WRAP_HELP)
    .action(async (command: string[], options: WrapOptions) => {
      const { wrap } = await import('../mcp/wrap.ts');
      endLike(await wrap(command, options));
    });
  mcp
    .command('install')
    .addArgument(mcp.createArgument('<client>', 'the client').choices(Object.keys(CLIENTS)))
    .argument('[command...]', 'after --: the server to start, and its arguments')
    .usage('<client> [options] [-- <command> [arguments...]]')
    .summary('configure a client to use it')
    .description(
      'Prints, and with --write makes, the change of a client’s configuration by which its servers are behind the proxy. The rest of the file stays, and a copy is kept.',
    )
    .option('--name <name>', 'the server, which may be configured already')
    .option('--server <url>', 'the URL of that server, if it is not configured', serverUrl)
    .option('--all', 'all servers that are configured')
    .option('--file <file>', 'another file of the client, such as that of a project')
    .option('--write', 'make the change')
    .addHelpText('after', INSTALL_HELP)
    .action(async (client: ClientName, command: string[], options: InstallOptions) => {
      const { install } = await import('../mcp/install.ts');
      install(client, command, options);
    });
}

const INSTALL_HELP = `
Examples:
  $ tally mcp install cursor --all
  $ tally mcp install claude-code --name files --write -- npx -y my-server .
  $ tally mcp install vscode --name docs --server https://mcp.example/mcp
  $ tally mcp install claude-code --all --file .mcp.json --write`;

const WRAP_HELP = `
A call is refused if --deny names its tool, if --ask does and the user does not
agree, or if there is an --allow and none names it. A refusal has a receipt too.

Examples:
  $ tally mcp wrap -- npx -y @modelcontextprotocol/server-filesystem .
  $ tally mcp wrap --deny 'delete_*' --session files.jsonl -- npx -y my-server
  $ tally mcp wrap --server https://mcp.example/mcp --listen 8900
  $ tally session verify files.jsonl`;

/** Ends this process as another has ended. */
function endLike({ code, signal }: { code: number | null; signal: NodeJS.Signals | null }): void {
  if (signal !== null) process.kill(process.pid, signal);
  else process.exit(code ?? 0);
}

/** An option that may be given several times. */
function repeated(flags: string, description: string): Option {
  return new Option(flags, description)
    .default([], 'none')
    .argParser((text: string, before: string[]) => [...before, text]);
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return url;
  throw new UsageError(`“${text}” is not the URL of a server, such as http://127.0.0.1:3001/mcp.`);
}

/** Any address would let others of the network call tools, so the name of this machine has to be given. */
function listenAddress(text: string): ListenAddress {
  const [, host = '127.0.0.1', port = ''] = /^(?:(\[[\da-f:]+\]|[\w.-]+):)?(\d{1,5})$/i.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535)
    throw new UsageError(`--listen ${text}: write it as [host:]port.`);
  if (host === '0.0.0.0' || host === '[::]') {
    throw new UsageError(`--listen ${text}: name one address of this machine, not all of them.`);
  }
  return { host: host.toLowerCase(), port: Number(port) };
}
