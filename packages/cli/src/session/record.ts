import { parseJson, TallyError, type ToolOutcome, utf8 } from '@tallystick/core';
import { openSessionFile, type SessionFile, type SessionFileOptions } from '@tallystick/sdk/session-file';
import { ServiceError } from '@tallystick/sdk/transport';
import { readBytes } from '../input.ts';
import { asUsage, print, printJson, remark, UsageError } from '../output.ts';
import { issuerOf, type SigningOptions } from './issuer.ts';

export interface RecordOptions extends SigningOptions {
  readonly tool: string;
  readonly server: string;
  readonly arguments?: string;
  readonly result?: string;
  readonly outcome: ToolOutcome;
}

/** How long a command waits for another one that records in the same session, in milliseconds. */
const WAIT_MS = 10_000;

/** Opens a session and leaves it open. */
export async function newSession(
  file: string | undefined,
  { json, ...signing }: SigningOptions & { readonly json?: boolean },
): Promise<void> {
  const session = await opened(file ?? null, signing, 'new');
  await session.release();
  if (json) printJson({ id: session.id, file: session.path });
  else print(session.id);
  if (!json) remark(`Its file: ${session.path}`);
}

/** Records one call that is over, and prints its receipt. */
export async function recordCall(
  file: string,
  { tool, server, outcome, arguments: given, result, ...signing }: RecordOptions,
): Promise<void> {
  const call = {
    tool,
    server: { name: server, version: null, transport: 'in_process', identity_sha256: null },
    outcome,
    arguments: await valueOf('--arguments', given),
    result: await valueOf('--result', result),
  } as const;
  const session = await opened(file, signing);
  try {
    print(await session.record(call));
  } finally {
    await session.release();
  }
}

/** Closes a session, and prints its last receipt. */
export async function closeSession(file: string, signing: SigningOptions): Promise<void> {
  const session = await opened(file, signing, 'open');
  try {
    print(await session.close());
  } finally {
    await session.release();
  }
}

async function opened(
  file: string | null,
  signing: SigningOptions,
  only?: SessionFileOptions['only'],
): Promise<SessionFile> {
  const issuer = await issuerOf(signing);
  try {
    const session = await openSessionFile(file, { ...issuer, only, waitMs: WAIT_MS });
    for (const text of session.remarks) remark(text);
    return session;
  } catch (error) {
    throw error instanceof ServiceError ? error : asUsage(error);
  }
}

/**
 * A value as the shell gives it: JSON, or `@` and the name of a file, whose bytes are taken as they are where they are no
 * I-JSON. @throws UsageError
 */
async function valueOf(option: string, text: string | undefined): Promise<unknown> {
  if (text === undefined) return undefined;
  const bytes = text.startsWith('@') ? await readBytes(text.slice(1)) : utf8(text);
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    if (text.startsWith('@')) return bytes;
    throw new UsageError(`${option}: ${error.message} Give the name of a file as @<file>.`);
  }
}
