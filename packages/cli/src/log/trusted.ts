import {
  type Checkpoint,
  fromBase64url,
  type LogKey,
  openCheckpoint,
  parseCheckpointText,
  parseNote,
  TallyError,
} from '@tallystick/core';
import { UsageError } from '../output.ts';
import { type TrustSource, trustSources } from '../trust-sources.ts';

export interface TrustOptions {
  readonly trust?: string;
  readonly root?: string;
}

/** The bundles to judge a log by: the chosen one, or all saved ones. @throws UsageError if there is none */
export async function logTrust({ trust, root }: TrustOptions): Promise<readonly TrustSource[]> {
  const { sources } = await trustSources(trust, { now: Date.now(), root });
  if (sources.length > 0) return sources;
  throw new UsageError('No saved trust says whose log this is. Fetch it once: tally trust fetch <url>');
}

/** A log's key, and the size up to which its trees count; null for a log that still grows, or whose last size is not known. */
interface TrustedLog extends LogKey {
  readonly lastSize: number | null;
}

/**
 * Returns the checkpoint in a signed note after verifying its signature. The log that signed must be the present one of a trust bundle, or one in its history.
 * @throws note_invalid, checkpoint_invalid, checkpoint_signature_invalid
 */
export async function openTrusted(note: string, sources: readonly TrustSource[]): Promise<Checkpoint> {
  const { log, checkpoint } = await openBySigner(note, sources);
  if (log.lastSize === null || checkpoint.size <= log.lastSize) return checkpoint;
  throw new TallyError(
    'checkpoint_invalid',
    `The log ${log.origin} has ended: by the saved trust its last tree has ${log.lastSize} leaves, and this one has ${checkpoint.size}.`,
  );
}

/** As `openTrusted`, with the key of the log that signed it, and whatever the tree's size is. */
export async function openBySigner(
  note: string,
  sources: readonly TrustSource[],
): Promise<{ readonly log: TrustedLog; readonly checkpoint: Checkpoint }> {
  const { origin } = parseCheckpointText(parseNote(note).text);
  let fault = new TallyError(
    'checkpoint_signature_invalid',
    `The saved trust does not list the log ${origin}, so its signature can’t be attributed. Fetch the trust of its service: tally trust fetch <url>`,
  );
  for (const log of sources.flatMap(logsOf).filter((one) => one.origin === origin)) {
    try {
      return { log, checkpoint: await openCheckpoint(note, log) };
    } catch (error) {
      if (!(error instanceof TallyError)) throw error;
      fault = error;
    }
  }
  throw fault;
}

function logsOf({ bundle: { log, history } }: TrustSource): TrustedLog[] {
  const present = log === null ? [] : [{ ...log, last_size: null }];
  return [...present, ...(history?.logs ?? [])].map(({ origin, public_key, last_size }) => ({
    origin,
    publicKey: fromBase64url(public_key, 32),
    lastSize: last_size,
  }));
}
