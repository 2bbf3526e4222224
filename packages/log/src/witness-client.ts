import { checkCosignature, TallyError, type VerifierKey, withSignature } from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import { readAtMost } from './read-at-most.ts';
import { type AddCheckpoint, formatAddCheckpoint } from './witness-protocol.ts';

const TIMEOUT_MS = 5_000;
const MAX_ANSWER = 65_536;

/** A witness in the operator's configuration. */
export interface WitnessConfig extends VerifierKey {
  /** The submission prefix, without a trailing slash. */
  readonly url: string;
  /** Answers in place of what is at the URL: a witness in this process. */
  readonly ask?: (body: string) => Promise<WitnessReply>;
}

/** What a witness answers to an `add-checkpoint`. */
export interface WitnessReply {
  readonly status: number;
  readonly body: string;
  /** Content type of a body that is not empty. */
  readonly type?: string | undefined;
}

/**
 * `conflict`: the witness last cosigned a tree of `size` leaves, or at that size another root. `inconsistent`: the
 * proof does not lead from what it last cosigned to the checkpoint.
 */
export type WitnessAnswer =
  | { readonly kind: 'cosigned'; readonly note: string }
  | { readonly kind: 'conflict'; readonly size: number }
  | { readonly kind: 'inconsistent' };

/**
 * Asks a witness to cosign (C2SP tlog-witness, "add-checkpoint"). Returns the note with its cosignature, which is
 * checked.
 * @throws unavailable when it cannot be reached, refuses, or returns no good cosignature by its key
 */
export async function askWitness(
  witness: WitnessConfig,
  request: AddCheckpoint,
  fetch: typeof globalThis.fetch,
): Promise<WitnessAnswer> {
  const { status, body } = await post(witness, formatAddCheckpoint(request), fetch);
  if (status === 409 && /^(0|[1-9]\d{0,15})\n$/.test(body)) return { kind: 'conflict', size: Number(body) };
  if (status === 422) return { kind: 'inconsistent' };
  if (status !== 200) throw unavailable(`The witness ${witness.name} answered ${status}.`);
  const note = await cosigned(witness, request.checkpoint, body);
  if (note === null)
    throw unavailable(`The witness ${witness.name} answered without a cosignature of its key.`);
  return { kind: 'cosigned', note };
}

async function post(
  witness: WitnessConfig,
  body: string,
  fetch: typeof globalThis.fetch,
): Promise<WitnessReply> {
  try {
    if (witness.ask !== undefined) return await witness.ask(body);
    const answer = await fetch(`${witness.url}/add-checkpoint`, {
      method: 'POST',
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: answer.status, body: (await readAtMost(answer, MAX_ANSWER)).toString('utf8') };
  } catch (cause) {
    throw unavailable(`The witness ${witness.name} can’t be reached.`, cause);
  }
}

/** Adds to the note the first line that is a good cosignature of the witness. Lines of other keys are skipped. */
async function cosigned(witness: WitnessConfig, note: string, body: string): Promise<string | null> {
  for (const line of body.split('\n').slice(0, -1)) {
    const candidate = tryAdd(note, `${line}\n`);
    if (candidate !== null && (await checkCosignature(candidate, witness, nodeEngine)) !== null)
      return candidate;
  }
  return null;
}

function tryAdd(note: string, line: string): string | null {
  try {
    return withSignature(note, line);
  } catch {
    return null;
  }
}

const unavailable = (message: string, cause?: unknown): TallyError =>
  new TallyError('unavailable', message, { cause });
