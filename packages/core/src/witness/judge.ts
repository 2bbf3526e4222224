import type { Ed25519Engine } from '../ed25519/profile.ts';
import { equalBytes } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import type { AnchorVerdict } from '../log/anchor-checks.ts';
import {
  type Checkpoint,
  isBy,
  type LogKey,
  openCheckpoint,
  parseCheckpointText,
} from '../log/checkpoint.ts';
import { cosignedAt } from '../log/cosignature.ts';
import { type Note, parseNote } from '../log/note.ts';
import { type Check, passed, unchecked } from '../receipts/family.ts';
import { type AnchorAuthority, logsOf } from '../trust/authority.ts';
import type { Rules } from './rules.ts';

/** The third verdict, beside integrity and trust: whether enough of the witnesses that the verifier chose cosigned. */
export interface Witnessed {
  /** Least number of cosignatures that can meet the quorum. */
  readonly required: number;
  /** Whether a log of the policy signed the checkpoint, and the quorum cosigned it. */
  readonly satisfied: boolean;
  /** Names, as in the policy, of the witnesses in the quorum that cosigned. */
  readonly by: readonly string[];
  /** Number of witnesses in the quorum. */
  readonly of: number;
}

/** The verdict on one checkpoint, and why, in a sentence. */
export interface WitnessFinding {
  readonly witnessed: Witnessed;
  readonly detail: string;
}

/**
 * Judges a checkpoint by a policy. As in any signed note, a signature that says to be of a key of the policy must be good:
 * one that is not spoils the whole note.
 * @param note signed note of the checkpoint; undefined where there is none that proves anything
 * @param known the logs that count if the policy names none
 * @param isSigned whether the signature of a known log on this note was found good already
 */
export async function judgeCheckpoint(
  rules: Rules,
  note: string | undefined,
  known: readonly LogKey[],
  engine: Ed25519Engine,
  isSigned = false,
): Promise<WitnessFinding> {
  const counted = witnessesOfQuorum(rules);
  const required = leastOf(rules);
  const finding = (detail: string, by: readonly string[] = [], satisfied = false): WitnessFinding => ({
    witnessed: { required, satisfied, by, of: counted.length },
    detail,
  });
  if (note === undefined)
    return finding('There is no checkpoint that covers the receipt, so nobody has witnessed it.');
  try {
    const logs = rules.logs.map(({ name, publicKey }) => ({ origin: name, publicKey }));
    const { origin } = await openByAny(note, logs.length > 0 ? logs : known, engine, isSigned ? known : []);
    const cosigned = await cosignersOf(rules, parseNote(note), engine);
    const by = counted.filter((name) => cosigned.has(name));
    const tally = `${by.length} of the ${counted.length} witnesses of the policy cosigned this checkpoint of ${origin}`;
    if (!isMet(rules, cosigned)) return finding(`${tally}; at least ${required} must have.`, by);
    return finding(required === 0 ? `The policy requires no witness for ${origin}.` : `${tally}.`, by, true);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return finding(error.message);
  }
}

/** Judges the checkpoint of an anchor. The check is never false: a missing witness contradicts nothing. */
export async function assessWitnesses(
  rules: Rules,
  { checks, checkpoint }: AnchorVerdict,
  anchors: readonly AnchorAuthority[],
  engine: Ed25519Engine,
): Promise<{ readonly witnessed: Witnessed; readonly checks: readonly Check[] }> {
  const found = new Map(checks.map(({ name, ok }) => [name, ok]));
  const covers = found.get('anchor') === true && found.get('anchor_checkpoint') !== false;
  const given = covers ? checkpoint : undefined;
  const isSigned = found.get('anchor_checkpoint') === true;
  const { witnessed, detail } = await judgeCheckpoint(rules, given, logsOf(anchors), engine, isSigned);
  return { witnessed, checks: [(witnessed.satisfied ? passed : unchecked)('witnessed', detail)] };
}

/**
 * Opens the note with the key of the first log that has its origin and signed it.
 * @param signers logs of which one has signed it, as is known already
 * @throws note_invalid, checkpoint_*
 */
async function openByAny(
  note: string,
  logs: readonly LogKey[],
  engine: Ed25519Engine,
  signers: readonly LogKey[],
): Promise<Checkpoint> {
  const checkpoint = parseCheckpointText(parseNote(note).text);
  const { origin } = checkpoint;
  const [signer, ...others] = signers.filter((one) => one.origin === origin);
  let fault: TallyError | undefined;
  for (const log of logs.filter((one) => one.origin === origin)) {
    if (signer && others.length === 0 && equalBytes(signer.publicKey, log.publicKey)) return checkpoint;
    try {
      return await openCheckpoint(note, log, engine);
    } catch (error) {
      if (!(error instanceof TallyError)) throw error;
      fault = error;
    }
  }
  throw fault ?? unsigned(`The log ${origin} is not one of the policy's.`);
}

/**
 * Names of the witnesses of a policy that cosigned a checkpoint.
 * @throws checkpoint_signature_invalid for a cosignature that says to be of such a key and is not good
 */
async function cosignersOf(
  { witnesses }: Rules,
  { text, signatures }: Note,
  engine: Ed25519Engine,
): Promise<ReadonlySet<string>> {
  // An engine may verify several signatures at once.
  const cosigned = await Promise.all(
    witnesses.map(async ({ name, key }) => {
      if (key === null) return [];
      const own = signatures.filter((line) => isBy(line, key.name, key.keyHash));
      if (own.length === 0) return [];
      if ((await cosignedAt(text, own, key, engine)) !== null) return [name];
      throw unsigned(`The cosignature of ${key.name} does not cover this checkpoint.`);
    }),
  );
  return new Set(cosigned.flat());
}

const unsigned = (message: string): TallyError => new TallyError('checkpoint_signature_invalid', message);

/** Whether the quorum has witnessed what these witnesses cosigned. Groups come after their members. */
function isMet({ groups, quorum }: Rules, cosigned: ReadonlySet<string>): boolean {
  const met = new Set(cosigned);
  for (const { name, threshold, members } of groups) {
    if (members.filter((member) => met.has(member)).length >= threshold) met.add(name);
  }
  return quorum === null || met.has(quorum);
}

/** The least number of witnesses that can meet the quorum. */
function leastOf({ witnesses, groups, quorum }: Rules): number {
  const least = new Map(witnesses.map(({ name }) => [name, 1]));
  for (const { name, threshold, members } of groups) {
    const costs = members.map((member) => least.get(member) ?? 0).sort((a, b) => a - b);
    least.set(
      name,
      costs.slice(0, threshold).reduce((sum, cost) => sum + cost, 0),
    );
  }
  return quorum === null ? 0 : (least.get(quorum) ?? 0);
}

/** Names of the witnesses that the quorum counts, in the order of the policy. */
function witnessesOfQuorum({ witnesses, groups, quorum }: Rules): string[] {
  const within = new Set(quorum === null ? [] : [quorum]);
  for (const { name, members } of groups.toReversed()) {
    if (within.has(name)) for (const member of members) within.add(member);
  }
  return witnesses.map(({ name }) => name).filter((name) => within.has(name));
}
