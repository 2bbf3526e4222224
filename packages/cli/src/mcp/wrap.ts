import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { canonicalBytes, type Signer, sha256Hex, type ToolServer, utf8 } from '@tallystick/core';
import { createClient, createSigner } from '@tallystick/sdk';
import { openSessionFile, ownKey, type SessionFile } from '@tallystick/sdk/session-file';
import { readSecretKey } from '../key-file.ts';
import { asUsage, remark, UsageError } from '../output.ts';
import { anchoringAt } from '../session/anchoring.ts';
import { withActa } from './acta-file.ts';
import { runBridge } from './bridge.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { policyOf } from './policy.ts';
import { listenInFront } from './reverse-proxy.ts';
import { runStdio, type ServerEnd } from './stdio.ts';
import { beforeTheEnd, toldToEnd } from './told-to-end.ts';

/** The options of `tally mcp wrap`, as they are typed. */
export interface WrapOptions {
  readonly session?: string;
  readonly key?: string;
  readonly url?: string;
  readonly anchorAt?: string;
  readonly apiKey?: string;
  readonly format?: 'acta';
  readonly server?: URL;
  readonly listen?: ListenAddress;
  readonly headerFrom: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly ask: readonly string[];
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Runs the proxy until the server or the client has ended, and closes the session.
 * @param command the server to start, and its arguments; empty with `--server`
 * @returns how the server ended, so that this process ends in the same way
 * @throws UsageError; TallyError if the session can't be opened
 */
export async function wrap(command: readonly string[], options: WrapOptions): Promise<ServerEnd> {
  const target = options.server;
  if ((command.length === 0) === (target === undefined)) {
    throw new UsageError('Name the server: either a command after --, or --server URL.');
  }
  if (options.listen && target === undefined) {
    throw new UsageError(
      '--listen works with --server only: a command speaks over its standard input and output.',
    );
  }
  if (options.key !== undefined && options.url !== undefined) {
    throw new UsageError('Give --key or --url, not both.');
  }
  const headers = headersOf(options.headerFrom);
  const session = await openSession(options);
  for (const text of session.remarks) remark(text);
  const conversation: ConversationOptions = {
    recorder:
      options.format === 'acta'
        ? withActa(session, session.path, { signer: await signerOf(options), policy: options })
        : session,
    decide: policyOf(options),
    server: target === undefined ? commandServer(command) : urlServer(target),
    remark,
  };
  try {
    if (target === undefined) return await runStdio(command, new Conversation(conversation));
    if (options.listen === undefined) {
      await runBridge({ target, conversation: new Conversation(conversation), headers, remark });
    } else {
      await listenUntilToldToEnd({ target, conversation, headers, ...options.listen });
    }
    return { code: 0, signal: null };
  } finally {
    // Clients tell it to end two seconds after they have closed its input.
    const isWritten = existsSync(session.path);
    await beforeTheEnd<unknown>(() => (isWritten ? session.close() : session.release()));
    remark(isWritten ? `The session is in ${session.path}.` : 'No tool was called, so there is no session.');
  }
}

async function listenUntilToldToEnd(options: Parameters<typeof listenInFront>[0]): Promise<void> {
  const told = toldToEnd();
  const proxy = await listenInFront(options);
  remark(`Listening on ${proxy.url}`);
  await told;
  await proxy.close();
}

async function openSession(options: WrapOptions): Promise<SessionFile> {
  const { session, url, anchorAt, apiKey } = options;
  const issuer =
    url === undefined ? { key: await signerOf(options) } : { client: createClient({ baseUrl: url, apiKey }) };
  try {
    const anchor = anchorAt === undefined ? undefined : await anchoringAt(anchorAt, apiKey, remark);
    // Clients that start a server twice would else leave a file of the first start, and the calls in a second one.
    return await openSessionFile(session ?? null, { ...issuer, anchor, late: url === undefined });
  } catch (error) {
    throw asUsage(error);
  }
}

/** The key that is named, or the user's own. */
async function signerOf({ key }: WrapOptions): Promise<Signer> {
  return key === undefined ? ownKey() : createSigner(await readSecretKey(key));
}

/** @param given `<name>=<variable>` each @returns names and values in turn */
function headersOf(given: readonly string[]): string[] {
  return given.flatMap((text) => {
    const [, name = '', variable = ''] = /^([\w-]+)=(\w+)$/.exec(text) ?? [];
    const value = process.env[variable];
    if (name === '')
      throw new UsageError(`--header-from ${text}: write it as <name>=<environment variable>.`);
    if (value === undefined) throw new UsageError(`--header-from ${text}: there is no variable ${variable}.`);
    return [name, value];
  });
}

function commandServer(command: readonly string[]): ToolServer {
  return {
    name: basename(command[0] ?? ''),
    version: null,
    transport: 'stdio',
    identity_sha256: `sha256:${sha256Hex(canonicalBytes([...command]))}`,
  };
}

/** A query is left out: it may hold a secret. */
function urlServer({ origin, pathname, host }: URL): ToolServer {
  return {
    name: host,
    version: null,
    transport: 'http',
    identity_sha256: `sha256:${sha256Hex(utf8(`${origin}${pathname}`))}`,
  };
}
