import {
  type Checkpoint,
  checkCosignature,
  equalBytes,
  fromBase64url,
  type LogKey,
  openCheckpoint,
  parseCheckpointText,
  parseNote,
  parseWitnessKey,
  TallyError,
  toHex,
  verifyConsistency,
} from '@tallystick/core';
import type { TrustInUse } from '../../../trust.ts';
import { ApiProblem } from '../../api.ts';
import type { Finding } from '../../components/findings.tsx';
import { count } from '../../format/number.ts';
import { fullTime } from '../../format/time.ts';
import { trustHere } from '../../trust.ts';
import { type LogStatus, leaves } from './documents.ts';
import { type RememberedHead, recallHead, rememberHead } from './remembered.ts';
import { Tiles } from './tiles.ts';

/** Two signed heads of one log that can't both be true. */
export interface Contradiction {
  readonly kind: 'fork' | 'rollback';
  readonly earlier: RememberedHead;
  readonly later: RememberedHead;
  readonly verifierKey: string;
}

/** The newest checkpoint, and what was found when it was checked. */
export interface CheckedHead {
  readonly note: string;
  /** Null if the note can't be read. */
  readonly size: number | null;
  /** Hex. */
  readonly root: string | null;
  /** When this browser first saw it, RFC 3339. */
  readonly seen: string;
  readonly findings: readonly Finding[];
  readonly contradiction: Contradiction | null;
}

/** The key of the log in the trust in use; null if it has none. */
export function logKeyOf({ bundle }: TrustInUse): LogKey | null {
  const log = bundle?.log ?? null;
  return log && { origin: log.origin, publicKey: fromBase64url(log.public_key) };
}

/** What the browser remembered of a log when the page was opened, by origin: the last visit. */
const lastVisits = new Map<string, RememberedHead | null>();

/**
 * Checks the newest checkpoint: the log's signature by the trust bundle, the cosignatures of its witnesses, and, if the
 * signature is good, whether it extends what this browser saw last. A good head is remembered then.
 * @throws ApiProblem
 */
export async function checkHead(note: string, status: LogStatus): Promise<CheckedHead> {
  const now = new Date().toISOString();
  const unread = { note, size: null, root: null, seen: now, contradiction: null };
  const parsed = textOf(() => parseCheckpointText(parseNote(note).text));
  if (typeof parsed === 'string') return { ...unread, findings: [failed('Signature', parsed)] };
  const head = { ...unread, size: parsed.size, root: toHex(parsed.root) };
  const trust = await trustHere();
  const key = logKeyOf(trust);
  if (key === null) {
    const detail = 'Not checked: no trust bundle names the key of this log.';
    return { ...head, findings: [{ state: 'unknown', name: 'Signature', detail }] };
  }
  try {
    await openCheckpoint(note, key);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return { ...head, findings: [failed('Signature', error.message)] };
  }
  const named =
    trust.site === null ? 'the trust bundle that this browser remembers' : 'this service’s trust bundle';
  const signature: Finding = {
    state: 'pass',
    name: 'Signature',
    detail: `The log signed this root over ${leaves(parsed.size)}, with the key that ${named} names.`,
  };
  const witnesses = await cosignatures(note, status.witnesses);
  const extending = await consistency({ note, checkpoint: parsed, key, seen: now }, status.verifier_key);
  return { ...head, ...extending, findings: [signature, extending.finding, ...witnesses] };
}

async function cosignatures(note: string, witnesses: readonly string[]): Promise<Finding[]> {
  if (witnesses.length === 0) {
    return [{ state: 'unknown', name: 'Witnesses', detail: 'This log asks no witness to cosign it.' }];
  }
  return Promise.all(
    witnesses.map(async (text): Promise<Finding> => {
      const name = `Witness ${text.split('+')[0]}`;
      try {
        const time = await checkCosignature(note, parseWitnessKey(text));
        if (time === null)
          return { state: 'unknown', name, detail: 'Has not cosigned this checkpoint yet, or not validly.' };
        const detail = `Cosigned it at ${new Date(time * 1_000).toISOString()}, by the key that this service names: compare it with the one that the witness publishes.`;
        return { state: 'pass', name, detail };
      } catch (error) {
        if (!(error instanceof TallyError)) throw error;
        return failed(name, error.message);
      }
    }),
  );
}

interface Extending extends Pick<CheckedHead, 'seen' | 'contradiction'> {
  readonly finding: Finding;
}

const NAME = 'Consistency';

/** Whether a head, whose signature is good, extends the one that is remembered. */
async function consistency(
  now: { note: string; checkpoint: Checkpoint; key: LogKey; seen: string },
  verifierKey: string,
): Promise<Extending> {
  const { note, checkpoint, key, seen } = now;
  const { origin } = key;
  const earlier = recallHead(origin);
  const visited = lastVisits.get(origin) ?? (lastVisits.has(origin) ? null : earlier);
  lastVisits.set(origin, visited);
  const later = { note, seen };
  if (earlier === null) {
    rememberHead(origin, later);
    const detail =
      'This is your first visit with this browser. It keeps this head and compares later ones with it.';
    return { seen, contradiction: null, finding: { state: 'unknown', name: NAME, detail } };
  }
  const contradicts = (kind: Contradiction['kind'], detail: string): Extending => ({
    seen,
    contradiction: { kind, earlier, later, verifierKey },
    finding: failed(NAME, detail),
  });
  const before = await openedBefore(earlier, key);
  if (typeof before === 'string') return contradicts('fork', before);
  const [from, to] = [leaves(before.size), leaves(checkpoint.size)];
  if (checkpoint.size < before.size) {
    return contradicts('rollback', `The log had signed ${from} and now shows ${to}.`);
  }
  if (checkpoint.size === before.size && equalBytes(checkpoint.root, before.root)) {
    return { seen: earlier.seen, contradiction: null, finding: unbroken(visited, before, checkpoint) };
  }
  const growth = await growthOf(before, checkpoint);
  if (growth === 'broken') {
    return contradicts(
      'fork',
      `The tree of ${to} does not contain the one of ${from} that the log had signed.`,
    );
  }
  if (growth !== 'proved') return { seen, contradiction: null, finding: growth };
  rememberHead(origin, later);
  return { seen, contradiction: null, finding: unbroken(visited, before, checkpoint) };
}

/** @returns the head that is remembered, or why it is none of this log */
async function openedBefore({ note }: RememberedHead, key: LogKey): Promise<Checkpoint | string> {
  try {
    return await openCheckpoint(note, key);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return `What this browser kept was signed by another key of ${key.origin}. A log never changes its key.`;
  }
}

/**
 * Whether the tree that was signed before is the beginning of the one that is signed now. It is broken only where the
 * tiles lead to the newer root and not to the older one: tiles that lead to neither prove nothing against the log.
 */
async function growthOf(before: Checkpoint, now: Checkpoint): Promise<'proved' | 'broken' | Finding> {
  if (before.size === now.size) return 'broken';
  if (before.size === 0) return 'proved';
  try {
    const tiles = new Tiles(now.size);
    const path = await tiles.consistencyProof(before.size);
    const claim = { size1: before.size, size2: now.size, root1: before.root, root2: now.root, path };
    if (verifyConsistency(claim)) return 'proved';
    if (equalBytes(await tiles.root(), now.root) && !equalBytes(await tiles.root(before.size), before.root)) {
      return 'broken';
    }
    return failed(NAME, 'Not proved: the tiles that the service gave do not belong to this checkpoint.');
  } catch (error) {
    if (!(error instanceof ApiProblem || error instanceof TallyError)) throw error;
    const detail = `Not checked: the tiles that prove it could not be read. ${error.message}`;
    return { state: 'unknown', name: NAME, detail };
  }
}

/** What was found, since the visit before this one. Every head between was checked when it came. */
function unbroken(visited: RememberedHead | null, before: Checkpoint, now: Checkpoint): Finding {
  const first = visited === null ? before : parseCheckpointText(parseNote(visited.note).text);
  const since =
    visited === null
      ? 'Since you opened this page'
      : `Since your visit of ${fullTime(new Date(visited.seen))}`;
  const more = now.size - first.size;
  const grown = more === 0 ? 'nothing was added' : `${leaves(more)} ${more === 1 ? 'was' : 'were'} added`;
  const detail = `${since} ${grown}, and none of the ${count(first.size)} before was changed or removed. This page verified the proof.`;
  return { state: 'pass', name: NAME, detail };
}

const failed = (name: string, detail: string): Finding => ({ state: 'fail', name, detail });

/** The value, or the message of the error. */
function textOf<T>(act: () => T): T | string {
  try {
    return act();
  } catch (error) {
    if (error instanceof TallyError) return error.message;
    throw error;
  }
}
