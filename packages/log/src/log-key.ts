import { equalBytes, type LogKey, type Signer, TallyError } from '@tallystick/core';

/** The log's name and key, and the signer that is active now. */
export interface LogSigner extends LogKey {
  /**
   * Returns the active signer for the key purpose `log`. It is called for each signature, since keys may be replaced
   * while running.
   */
  readonly signer: () => Signer;
}

/**
 * Returns the signer if it still has the log's key: a checkpoint under another key would start another log.
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
