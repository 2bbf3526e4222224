import type { SessionCall, SessionOpening } from '@tallystick/core';
import type { CallOptions } from '../http/transport.ts';
import type { EnvelopeReceipt } from '../receipts/documents.ts';
import type { Issued } from '../receipts/issued.ts';

export interface OpenServiceSessionParams extends Pick<SessionOpening, 'continues' | 'parent'> {
  /** 128 random bits as 32 lower-case hex characters. The same id again returns the same receipt. */
  readonly sessionId: string;
  /** SHA-256 of the salt that the caller keeps: `sha256:<hex>`. */
  readonly saltCommitment: string;
}

export interface AddSessionReceiptParams {
  /** A call of kind `tool` or `reference`, or the closing (spec/sessions.md). */
  readonly call: SessionCall;
  /** Salted hash of the arguments, `sha256:<hex>`; null if there are none. */
  readonly requestHash: string | null;
  /** Salted hash of the result. */
  readonly responseHash: string | null;
}

/** Sessions whose receipts the service signs (spec/sessions.md). `openSession({ client })` uses these. Need an API key. */
export interface SessionMethods {
  /** Opens a session. @returns its opening receipt */
  openServiceSession(params: OpenServiceSessionParams, call?: CallOptions): Promise<Issued<EnvelopeReceipt>>;
  /**
   * Has the next receipt of a session signed. The same call again returns the same receipt.
   * @throws ServiceError: session_conflict if it is not the next receipt
   */
  addSessionReceipt(
    sessionId: string,
    params: AddSessionReceiptParams,
    call?: CallOptions,
  ): Promise<Issued<EnvelopeReceipt>>;
  /** The session as JSON Lines, as `verifySession` takes it. */
  getSession(sessionId: string, call?: CallOptions): Promise<string>;
}
