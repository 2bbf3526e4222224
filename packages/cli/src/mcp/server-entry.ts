import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import { UsageError } from '../output.ts';

/** How the proxy is started: a program and its first arguments. */
export interface ProxyProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/** Members with the URL of a server, in one client or another. */
const URL_MEMBERS = ['url', 'serverUrl'];
/** Members that say how a client shows itself to a server at a URL, which the proxy can't do in its place. */
const FOREIGN_MEMBERS = [
  'oauth',
  'auth',
  'bearer_token_env_var',
  'http_headers',
  'env_http_headers',
  'headersHelper',
];

/**
 * The entry of a server in a client's configuration, with the proxy in front of the server. What it does not concern stays.
 * @returns null if the proxy stands there already
 * @throws UsageError for a server that the proxy can't be put in front of
 */
export function wrapEntry(name: string, entry: JsonObject, proxy: ProxyProgram): JsonObject | null {
  const { command } = entry;
  const args = textsOf(entry.args);
  if (typeof command === 'string') {
    if (args.some((arg, index) => arg === 'mcp' && args[index + 1] === 'wrap')) return null;
    return { ...entry, command: proxy.command, args: [...proxy.args, 'mcp', 'wrap', '--', command, ...args] };
  }
  const member = URL_MEMBERS.find((one) => typeof entry[one] === 'string') ?? '';
  const url = entry[member];
  if (typeof url !== 'string') throw unfit(name, 'it names neither a command nor a URL');
  if (entry.type === 'sse') throw unfit(name, 'its transport is the one of 2024-11-05');
  const foreign = FOREIGN_MEMBERS.find((one) => entry[one] !== undefined);
  if (foreign !== undefined) throw unfit(name, `it has ${foreign}`);
  const { [member]: _url, headers, type, env, ...rest } = entry;
  const sent = isObject(headers) ? Object.entries(headers) : [];
  // A header may hold a secret, and arguments can be read by every user of the machine.
  const variables = sent.map(([header, value]) => ({
    header,
    value,
    variable: `MCP_HEADER_${header.replaceAll(/\W/g, '_').toUpperCase()}`,
  }));
  return {
    ...rest,
    ...(type !== undefined && { type: 'stdio' }),
    command: proxy.command,
    args: [
      ...proxy.args,
      'mcp',
      'wrap',
      '--server',
      url,
      ...variables.flatMap(({ header, variable }) => ['--header-from', `${header}=${variable}`]),
    ],
    ...((isObject(env) || sent.length > 0) && {
      env: {
        ...(isObject(env) && env),
        ...Object.fromEntries(variables.map(({ variable, value }) => [variable, value])),
      },
    }),
  };
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function unfit(name: string, why: string): UsageError {
  return new UsageError(
    `The proxy can't be put in front of ${name} by itself: ${why}. Change its entry by hand.`,
  );
}
