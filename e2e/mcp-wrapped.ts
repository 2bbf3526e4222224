import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type CallToolResult, Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type SessionVerification, verifySession } from '@tallystick/core';
import { type Env, TALLY } from './process.ts';

/** The programs of the protocol's reference servers. */
const REFERENCE = {
  everything: import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
  filesystem: import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
  memory: import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'),
};

export function referenceServer(name: keyof typeof REFERENCE): string {
  return fileURLToPath(REFERENCE[name]);
}

/** Waits until its process has ended: the SDK's own `close` tells it to after two seconds, and kills it after four. */
class PatientTransport extends StdioClientTransport {
  override async close(): Promise<void> {
    const child = Reflect.get(this, '_process') as ChildProcess | undefined;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.stdin?.end();
      await Promise.race([closed, setTimeout(10_000, undefined, { ref: false })]);
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await closed;
    }
    await super.close();
  }
}

/** The SDK's own client of a server behind `tally mcp wrap`, or of the bare server if no arguments of it are given. */
export async function connectStdio(
  wrapped: readonly string[] | null,
  server: readonly string[],
  env: Env = {},
  options: ClientOptions = {},
): Promise<{ readonly client: Client; readonly pid: number; readonly stderr: () => string }> {
  const args =
    wrapped === null
      ? server
      : [TALLY, 'mcp', 'wrap', ...wrapped, ...(server.length > 0 ? ['--', process.execPath, ...server] : [])];
  const transport = new PatientTransport({
    command: process.execPath,
    args: [...args],
    env: { ...env },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'legacy' }, ...options },
  );
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0, stderr: () => stderr };
}

/** The progress that a client is told from now on. Its own handlers miss what it reads together with the answer. */
export function progressOf({ transport }: Client): readonly number[] {
  const steps: number[] = [];
  if (transport === undefined) throw new Error('It is not connected.');
  const { onmessage } = transport;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no event target
  transport.onmessage = (message, extra) => {
    const { method, params } = message as { readonly method?: string; readonly params?: unknown };
    if (method === 'notifications/progress') steps.push((params as { progress: number }).progress);
    onmessage?.(message, extra);
  };
  return steps;
}

/** The receipt in a result, without which a call was not acknowledged. */
export function receiptIn({ _meta: meta }: Pick<CallToolResult, '_meta'>) {
  return meta?.['tallystick/receipt'] as {
    readonly receipt_id: string;
    readonly call: {
      readonly tool: string;
      readonly outcome: string;
      readonly session: { readonly id: string; readonly seq: string };
    };
  };
}

export const textIn = ({ content }: CallToolResult): string => (content[0] as { text: string }).text;

export function judge(file: string): Promise<SessionVerification> {
  return verifySession(readFileSync(file), { now: Date.now() });
}

export interface Said {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node with these arguments and this on its standard input; `whileIt` runs when it first writes to standard output. */
export function run(
  args: readonly string[],
  input: string | null,
  env: Env,
  whileIt?: (kill: (signal: NodeJS.Signals) => void) => void,
): Promise<Said> {
  const child = spawn(process.execPath, args, { env });
  const said = { stdout: '', stderr: '' };
  child.stdout.once('data', () => whileIt?.((signal) => child.kill(signal)));
  child.stdout.on('data', (chunk) => (said.stdout += chunk));
  child.stderr.on('data', (chunk) => (said.stderr += chunk));
  if (input !== null) child.stdin.end(input);
  return new Promise(
    (resolve) => void child.once('close', (code, signal) => resolve({ code, signal, ...said })),
  );
}

const programs: ChildProcess[] = [];

/** Starts a program of Node that says its URL when it is ready. `stopPrograms` ends it. */
export function startProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  programs.push(child);
  let said = '';
  return new Promise((resolve, reject) => {
    const listen = (chunk: Buffer): void => {
      said += chunk;
      const url = /http:\/\/127\.0\.0\.1:\d+\/\w+/.exec(said)?.[0];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('close', () => reject(new Error(said)));
  });
}

/** Ends the programs, so that their sessions are closed. */
export async function stopPrograms(): Promise<void> {
  await Promise.all(
    programs.splice(0).map((child) => {
      const ended = new Promise((resolve) => void child.once('close', resolve));
      child.kill('SIGTERM');
      return ended;
    }),
  );
}
