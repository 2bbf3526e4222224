import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkOpenedValue,
  type JsonValue,
  type ReferenceState,
  type SessionVerification,
  TallyError,
  type Trust,
  trustOf,
  verifySession,
} from '@tallystick/core';
import { unreadable } from '../files.ts';
import { nameOf, readBytes, readJson } from '../input.ts';
import { asUsage, EXIT, type Exit, paint, print, printJson, remark, UsageError } from '../output.ts';
import { printable } from '../printable.ts';
import { type TrustSource, trustSources } from '../trust-sources.ts';
import { timeOf } from '../verify-options.ts';
import { fetchSession, isUrl } from './fetch.ts';
import { entryLine } from './lines.ts';

export interface VerifySessionsOptions {
  readonly trust?: string;
  readonly root?: string;
  readonly key?: string;
  readonly referenced?: readonly string[];
  readonly opening?: readonly string[];
  readonly asOf?: string;
  readonly url: string;
  readonly apiKey?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

/** Ends the name of a session's file. */
const SUFFIX = '.jsonl';
/** Ends the name of the Acta receipts beside a session, which are no session. */
const ACTA_SUFFIX = '.acta.jsonl';

/** Verifies the sessions of a file, a folder or a URL. @returns the worst of their exit codes */
export async function verifySessions(path: string, options: VerifySessionsOptions): Promise<Exit> {
  const now = timeOf(options.asOf);
  const { sources, refused } = await trustSources(options.trust, { now, root: options.root });
  const referenced = await Promise.all((options.referenced ?? []).map(readJson));
  const openings = await Promise.all((options.opening ?? []).map(readOpening));
  let worst: Exit = EXIT.ok;
  const note = (exit: Exit): void => {
    if (exit === EXIT.failed || worst === EXIT.ok) worst = exit;
  };
  const verdicts: SessionVerification[] = [];
  for (const file of isUrl(path) ? [path] : filesAt(path)) {
    const bytes = isUrl(file) ? await fetchSession(file, options) : await readBytes(file);
    const verdict = await judge(bytes, { now, key: options.key, sources, referenced });
    const opened = openings.filter(({ session }) => session === verdict.id).map((one) => opens(one, verdict));
    if (options.json) printJson({ file, ...verdict, ...(openings.length > 0 && { openings: opened }) });
    else for (const line of linesOf(verdict, options.quiet === true)) print(line);
    if (!options.json) for (const one of opened) print(openingLine(one));
    note(exitOf(verdict));
    if (opened.some(({ state }) => state !== 'valid')) note(EXIT.failed);
    verdicts.push(verdict);
  }
  for (const { file, session } of openings) {
    if (verdicts.some(({ id }) => id === session)) continue;
    remark(`${file} opens a value of the session ${session}, which was not given.`);
    note(EXIT.failed);
  }
  for (const { from, reason } of refused) remark(`${from} is not used: ${reason}`);
  return worst;
}

/** A document that opens a value, and the session that it names. */
interface GivenOpening {
  readonly file: string;
  readonly session: string;
  readonly document: JsonValue;
}

interface CheckedOpening {
  readonly file: string;
  readonly seq: string;
  readonly part: string;
  readonly state: ReferenceState;
}

/** @throws UsageError for what is no opening */
async function readOpening(file: string): Promise<GivenOpening> {
  const document = await readJson(file);
  try {
    checkOpenedValue(document, { id: null, entries: [] });
  } catch (error) {
    throw asUsage(error);
  }
  const { session_id: session } = document as { session_id: string };
  return { file, session, document };
}

function opens({ file, document }: GivenOpening, verdict: SessionVerification): CheckedOpening {
  const { seq, part } = document as { seq: string; part: string };
  return { file, seq, part, state: checkOpenedValue(document, verdict) };
}

function openingLine({ file, seq, part, state }: CheckedOpening): string {
  const place = `the ${part} of number ${seq}`;
  const said: Record<ReferenceState, string> = {
    valid: `${paint('green', '✓')} ${file}: ${place}`,
    contradicts: `${paint('red', '✗')} ${file}: not ${place}, which has another value`,
    not_given: `${paint('red', '✗')} ${file}: ${place}, which is no receipt of a tool here`,
  };
  return `  ${said[state]}`;
}

/** @throws UsageError for a folder without sessions */
function filesAt(path: string): readonly string[] {
  if (path === '-' || !isFolder(path)) return [path];
  const files = readdirSync(path).filter((name) => name.endsWith(SUFFIX) && !name.endsWith(ACTA_SUFFIX));
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

/** The verdict by the first bundle that trusts the session; without one, by the logs of all. */
async function judge(
  file: Uint8Array,
  { now, key, sources, referenced }: Basis,
): Promise<SessionVerification> {
  const verdictBy = async (trust: Trust): Promise<SessionVerification> => {
    try {
      return await verifySession(file, { now, key, referenced, trust });
    } catch (error) {
      if (error instanceof TallyError) throw new UsageError(`--key: ${error.message}`, { code: error.code });
      throw error;
    }
  };
  if (key === undefined) {
    for (const { bundle } of sources) {
      const verdict = await verdictBy(trustOf(bundle.issuers, [bundle]));
      if (verdict.trusted) return verdict;
    }
  }
  const logs = sources.map(({ bundle }) => bundle);
  return verdictBy(trustOf([], logs));
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
  for (const entry of entries) yield `  ${entryLine(entry, entry.reference ?? 'not_given')}`;
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
