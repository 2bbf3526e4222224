import { TallyError } from '@tallystick/core';

/** The most lines of proof that a witness takes (C2SP tlog-witness, "add-checkpoint"). */
const MAX_PROOF = 63;

/** A request to cosign. Its proof shows that the checkpoint's tree extends its first `old` leaves. */
export interface AddCheckpoint {
  readonly old: number;
  readonly proof: readonly Uint8Array[];
  /** The signed note. */
  readonly checkpoint: string;
}

const syntax = /^old (0|[1-9]\d{0,15})\n((?:[A-Za-z0-9+/]{43}=\n){0,63})\n([^]+)$/;

export function formatAddCheckpoint({ old, proof, checkpoint }: AddCheckpoint): string {
  const lines = proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`);
  return `old ${old}\n${lines.join('')}\n${checkpoint}`;
}

/** Parses a request. @throws note_invalid for every text that `formatAddCheckpoint` would not write */
export function parseAddCheckpoint(body: string): AddCheckpoint {
  const [, digits, lines = '', checkpoint = ''] = syntax.exec(body) ?? [];
  const old = Number(digits);
  const proof = lines
    .split('\n')
    .slice(0, -1)
    .map((line) => Buffer.from(line, 'base64'));
  const request = { old, proof, checkpoint };
  if (digits === undefined || !Number.isSafeInteger(old) || formatAddCheckpoint(request) !== body) {
    throw new TallyError(
      'note_invalid',
      `Expected "old <size>", at most ${MAX_PROOF} lines of proof, an empty line and a checkpoint.`,
    );
  }
  return request;
}
