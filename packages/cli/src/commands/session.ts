import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type JsonValue,
  type SessionEntry,
  type SessionVerification,
  TallyError,
  trustOf,
  verifySession,
} from '@tallystick/core';
import type { Command } from 'commander';
import { unreadable } from '../files.ts';
import { nameOf, readBytes, readJson } from '../input.ts';
import { EXIT, type Exit, paint, print, printJson, remark, UsageError } from '../output.ts';
import { printable } from '../printable.ts';
import { type TrustSource, trustSources } from '../trust-sources.ts';
import { timeOf, trustOptions } from '../verify-options.ts';

interface SessionOptions {
  readonly trust?: string;
  readonly root?: string;
  readonly key?: string;
  readonly referenced?: readonly string[];
  readonly asOf?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

/** Ends the name of a session's file. */
const SUFFIX = '.jsonl';

/** `tally session`: receipts of an agent's tool calls, in order. */
export function sessionCommands(program: Command, finish: (exit: Exit) => void): void {
  const session = program
    .command('session')
    .summary('verify an agent’s session')
    .description('Sessions: receipts of an agent’s tool calls, in an order that shows what is missing.');
  trustOptions(
    session
      .command('verify')
      .argument('<file>', 'the session, a receipt a line; or a folder of such files; or - for standard input')
      .summary('verify a session, offline')
      .description(
        'Verifies each receipt of a session, their order and their one key, and shows what was recorded. Of a folder it verifies every file whose name ends with .jsonl.',
      ),
  )
    .option('--key <key>', 'the key that the session must have: a did:key, or 32 bytes in base64url')
    .option('--referenced <files...>', 'receipts that the session refers to')
    .option('--as-of <time>', 'verify as of this UTC time (YYYY-MM-DDThh:mm:ssZ) instead of now')
    .option('-q, --quiet', 'only the verdict, and what is wrong')
    .option('--json', 'the verdict as JSON')
    .addHelpText('after', HELP)
    .action(async (path: string, options: SessionOptions) => finish(await verifyAll(path, options)));
}

const HELP = `
Exit status, of several files the worst (1, then 3):
  0  valid, and the key is trusted
  1  not valid: a receipt is missing, doubled, moved, edited, or of another key
  2  wrong usage, or a file that can't be read
  3  intact, but the key is not trusted

Of an open session nobody can see whether its newest receipts were cut off.

Examples:
  $ tally session verify session.jsonl --key did:key:z6Mk…
  $ tally session verify session.jsonl --referenced call-1.json
  $ tally session verify sessions/ --quiet`;

async function verifyAll(path: string, options: SessionOptions): Promise<Exit> {
  const now = timeOf(options.asOf);
  const { sources, refused } = await trustSources(options.trust, { now, root: options.root });
  const referenced = await Promise.all((options.referenced ?? []).map(readJson));
  let worst: Exit = EXIT.ok;
  for (const file of filesAt(path)) {
    const verdict = await judge(await readBytes(file), { now, key: options.key, sources, referenced });
    if (options.json) printJson({ file, ...verdict });
    else for (const line of linesOf(verdict, options.quiet === true)) print(line);
    const exit = exitOf(verdict);
    if (exit === EXIT.failed || worst === EXIT.ok) worst = exit;
  }
  for (const { from, reason } of refused) remark(`${from} is not used: ${reason}`);
  return worst;
}

/** @throws UsageError for a folder without sessions */
function filesAt(path: string): readonly string[] {
  if (path === '-' || !isFolder(path)) return [path];
  const files = readdirSync(path).filter((name) => name.endsWith(SUFFIX));
  if (files.length === 0) throw new UsageError(`${path} has no file whose name ends with ${SUFFIX}.`);
  return files.toSorted((a, b) => a.localeCompare(b)).map((name) => join(path, name));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw unreadable(nameOf(path), error);
  }
}

interface Basis {
  readonly now: number;
  readonly key: string | undefined;
  readonly sources: readonly TrustSource[];
  readonly referenced: readonly JsonValue[];
}

/** The verdict by the first bundle that trusts the session; without one, by none. */
async function judge(
  file: Uint8Array,
  { now, key, sources, referenced }: Basis,
): Promise<SessionVerification> {
  const verdictBy = async (source?: TrustSource): Promise<SessionVerification> => {
    const trust = source && trustOf(source.bundle.issuers, [source.bundle]);
    try {
      return await verifySession(file, { now, key, referenced, trust });
    } catch (error) {
      if (error instanceof TallyError) throw new UsageError(`--key: ${error.message}`, { code: error.code });
      throw error;
    }
  };
  if (key === undefined) {
    for (const source of sources) {
      const verdict = await verdictBy(source);
      if (verdict.trusted) return verdict;
    }
  }
  return verdictBy();
}

function exitOf({ valid, trusted }: SessionVerification): Exit {
  if (!valid) return EXIT.failed;
  return trusted ? EXIT.ok : EXIT.untrusted;
}

function* linesOf(verdict: SessionVerification, quiet: boolean): Generator<string> {
  const { faults, notes, entries } = verdict;
  yield headlineOf(verdict);
  for (const { name, detail } of faults) yield `  ${paint('red', '✗')} ${name}: ${printable(detail)}`;
  if (quiet) return;
  for (const note of notes) yield `  ${paint('yellow', '○')} ${note}`;
  if (entries.length > 0) yield '';
  for (const entry of entries) yield `  ${entryLine(entry)}`;
}

function headlineOf(verdict: SessionVerification): string {
  const { valid, trusted, state, count, recorder, faults, references } = verdict;
  if (!valid) {
    const why =
      faults.length > 0 ? `${faults.length} fault${faults.length === 1 ? '' : 's'}` : otherWhy(verdict);
    return `${paint('bold', paint('red', '✗ Not valid'))}: ${why}.`;
  }
  const by = recorder?.by === 'service' ? recorder.issuer_did : recorder?.key_id;
  const anchored =
    verdict.anchored_up_to === null ? 'not anchored' : `anchored up to number ${verdict.anchored_up_to}`;
  const named = references.not_given > 0 ? `, ${references.not_given} references without their receipts` : '';
  const facts = `${state}, ${count} receipts, signed by ${printable(by ?? 'nobody')}, ${anchored}${named}`;
  return trusted
    ? `${paint('bold', paint('green', '✓ Valid'))}: ${facts}.`
    : `${paint('bold', paint('yellow', '○ Intact, but not trusted'))}: ${facts}. Pin its key with --key.`;
}

function otherWhy({ state, references }: SessionVerification): string {
  if (state === 'none') return 'it holds no receipt of a session';
  return references.contradicts > 0
    ? 'a receipt that it refers to is another one'
    : 'a receipt contradicts what is known';
}

function entryLine({ seq, issued_at: at, call, reference }: SessionEntry): string {
  return paint('dim', `${String(seq).padStart(4)}  ${at}  `) + printable(whatOf(call, reference));
}

function whatOf(call: SessionEntry['call'], reference: SessionEntry['reference']): string {
  if (call.kind === 'tool') return `${call.tool} (${call.server.name}): ${call.outcome}`;
  if (call.kind === 'reference')
    return `refers to ${call.receipt_id}: ${(reference ?? 'not_given').replace('_', ' ')}`;
  return call.event === 'open'
    ? `opens the session ${call.session.id}`
    : `closes the session of ${call.count} receipts`;
}
