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

/**
 * The checkpoint in a signed note, once the signature of a log that the trust knows was verified.
 * @throws note_invalid, checkpoint_invalid, checkpoint_signature_invalid
 */
export async function openTrusted(note: string, sources: readonly TrustSource[]): Promise<Checkpoint> {
  return (await openBySigner(note, sources)).checkpoint;
}

/** As `openTrusted`, with the key of the log that signed it. */
export async function openBySigner(
  note: string,
  sources: readonly TrustSource[],
): Promise<{ readonly log: LogKey; readonly checkpoint: Checkpoint }> {
  const { origin } = parseCheckpointText(parseNote(note).text);
  let fault = new TallyError(
    'checkpoint_signature_invalid',
    `The saved trust does not list the log ${origin}, so its signature can’t be attributed. Fetch the trust of its service: tally trust fetch <url>`,
  );
  for (const log of sources.flatMap(logOf).filter((one) => one.origin === origin)) {
    try {
      return { log, checkpoint: await openCheckpoint(note, log) };
    } catch (error) {
      if (!(error instanceof TallyError)) throw error;
      fault = error;
    }
  }
  throw fault;
}

function logOf({ bundle: { log } }: TrustSource): LogKey[] {
  return log === null ? [] : [{ origin: log.origin, publicKey: fromBase64url(log.public_key, 32) }];
}
