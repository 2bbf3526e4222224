import { equalBytes, type LogKey, type Signer, TallyError } from '@tallystick/core';

/** The log's name and key, and who signs for it now. */
export interface LogSigner extends LogKey {
  /** The active signer of the log's purpose: asked each time, since keys may be replaced while running. */
  readonly signer: () => Signer;
}

/**
 * The signer, when it still is the log's: a checkpoint under another key would start another log.
 * @throws log_mismatch
 */
export function ownSigner(log: LogSigner): Signer {
  const signer = log.signer();
  if (equalBytes(signer.publicKey, log.publicKey)) return signer;
  throw new TallyError(
    'log_mismatch',
    'The log key was replaced, but the key of a log never changes: restore the one that signed its first checkpoint.',
  );
}
