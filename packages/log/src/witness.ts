import {
  type Checkpoint,
  type CosigningKey,
  cosignCheckpoint,
  emptyRoot,
  equalBytes,
  type LogKey,
  openCheckpoint,
  parseCheckpointText,
  parseNote,
  TallyError,
  verifyConsistency,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import type { TreeHead } from './log-store.ts';
import { readAtMost } from './read-at-most.ts';
import type { WitnessReply } from './witness-client.ts';
import { type AddCheckpoint, parseAddCheckpoint } from './witness-protocol.ts';

const MAX_BODY = 65_536;

/** The tree that a witness has last cosigned of each log. Only one witness may use it at a time. */
export interface WitnessState {
  /** The tree last cosigned; null before the first. */
  read(origin: string): Promise<TreeHead | null>;
  /** Stores the tree. It is durable when it resolves. */
  write(origin: string, head: TreeHead): Promise<void>;
}

export interface WitnessOptions {
  readonly name: string;
  /** Keys of the witness, each of which cosigns. */
  readonly signers: readonly CosigningKey[];
  readonly logs: readonly LogKey[];
  readonly state: WitnessState;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** What a witness reads of a request for it. */
type WitnessRequest = Pick<Request, 'url' | 'method'> & { readonly body: AsyncIterable<Uint8Array> | null };

/** A witness (C2SP tlog-witness) as a fetch handler for `POST <prefix>/add-checkpoint`. See {@link witnessOf}. */
export function createWitness(options: WitnessOptions): (request: WitnessRequest) => Promise<Response> {
  const ask = witnessOf(options);
  return async (request) => {
    if (!new URL(request.url).pathname.endsWith('/add-checkpoint'))
      return response({ status: 404, body: '' });
    if (request.method !== 'POST') return response({ status: 405, body: '' });
    return response(await ask(await readBody(request)));
  };
}

/**
 * Makes a witness that is asked with the body of an `add-checkpoint`. It cosigns a checkpoint only if that is proved to extend what it
 * cosigned before, and stores it durably before it answers.
 */
export function witnessOf(options: WitnessOptions): (body: string) => Promise<WitnessReply> {
  /** The requests of one log run one after another: what is checked must still hold when it is written. */
  const turns = new Map<string, Promise<unknown>>();

  return async (body) => {
    const cosignRequest = readRequest(body);
    if (cosignRequest === null) return answer(400);
    const log = options.logs.find(({ origin }) => origin === cosignRequest.checkpoint.origin);
    if (log === undefined) return answer(404);
    const turn = (turns.get(log.origin) ?? Promise.resolve()).then(() =>
      addCheckpoint(options, log, cosignRequest),
    );
    turns.set(
      log.origin,
      turn.catch(() => {}),
    );
    return turn;
  };
}

/** A request whose checkpoint is not verified yet. */
interface CosignRequest extends Omit<AddCheckpoint, 'checkpoint'> {
  readonly note: string;
  readonly checkpoint: Checkpoint;
}

/** Reads the body. A body that is too long reads as empty text, which is refused. */
async function readBody(request: WitnessRequest): Promise<string> {
  try {
    return (await readAtMost(request, MAX_BODY)).toString('utf8');
  } catch (error) {
    if (error instanceof RangeError) return '';
    throw error;
  }
}

function readRequest(body: string): CosignRequest | null {
  try {
    const { old, proof, checkpoint: note } = parseAddCheckpoint(body);
    return { old, proof, note, checkpoint: parseCheckpointText(parseNote(note).text) };
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}

/** The checks in the specification's order. */
async function addCheckpoint(
  options: WitnessOptions,
  log: LogKey,
  cosignRequest: CosignRequest,
): Promise<WitnessReply> {
  const { name, signers, state, clock } = options;
  const { old, proof, note, checkpoint } = cosignRequest;
  if (!(await isSigned(note, log))) return answer(403);
  if (old > checkpoint.size) return answer(400);
  const known = (await state.read(log.origin)) ?? { size: 0, root: emptyRoot() };
  if (old !== known.size) return conflict(known);
  if (old === checkpoint.size && !equalBytes(known.root, checkpoint.root)) return conflict(known);
  if (!isGrowth(known, checkpoint, proof)) return answer(422);
  await state.write(log.origin, { size: checkpoint.size, root: checkpoint.root });
  const time = Math.floor(clock() / 1000);
  const lines = await Promise.all(signers.map((signer) => cosignCheckpoint(note, { name, signer }, time)));
  return answer(200, lines.join(''), 'text/plain; charset=utf-8');
}

async function isSigned(note: string, log: LogKey): Promise<boolean> {
  try {
    await openCheckpoint(note, log, nodeEngine);
    return true;
  } catch (error) {
    if (error instanceof TallyError && error.code === 'checkpoint_signature_invalid') return false;
    throw error;
  }
}

function isGrowth(from: TreeHead, to: TreeHead, path: readonly Uint8Array[]): boolean {
  // Every tree extends the empty one, which needs no proof.
  if (from.size === 0) return path.length === 0;
  return verifyConsistency({ size1: from.size, size2: to.size, root1: from.root, root2: to.root, path });
}

const conflict = ({ size }: TreeHead): WitnessReply => answer(409, `${size}\n`, 'text/x.tlog.size');

function answer(status: number, body = '', type?: string): WitnessReply {
  return { status, body, type };
}

function response({ status, body, type }: WitnessReply): Response {
  return new Response(body, { status, headers: type === undefined ? {} : { 'content-type': type } });
}
