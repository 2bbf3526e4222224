import type { SessionCall, SessionOpening } from '@tallystick/core';
import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { EnvelopeReceipt } from '../receipts/documents.ts';
import { type Issued, issuedIn } from '../receipts/issued.ts';

export interface OpenServiceSessionParams extends Pick<SessionOpening, 'continues' | 'parent'> {
  /** 128 random bits as 32 lower-case hex characters. The same id again returns the same receipt. */
  readonly sessionId: string;
  /** SHA-256 of the salt that the caller keeps: `sha256:<hex>`. */
  readonly saltCommitment: string;
  /** Whether to anchor the closing receipt, whose hash covers every receipt before it. Needs an API key. */
  readonly anchor?: boolean | undefined;
}

export interface AddSessionReceiptParams {
  /** A call of kind `tool` or `reference`, or the closing (spec/sessions.md). */
  readonly call: SessionCall;
  /** Salted hash of the arguments, `sha256:<hex>`; null if there are none. */
  readonly requestHash: string | null;
  /** Salted hash of the result. */
  readonly responseHash: string | null;
  /** Whether to anchor this receipt, and with it every receipt before it. Needs an API key. */
  readonly anchor?: boolean | undefined;
}

/**
 * Sessions whose receipts the service signs (spec/sessions.md). `openSession({ client })` uses these. A session belongs to the
 * client's API key, to its agent, or to the wallet that pays; each receipt costs as much as a standard one.
 */
export interface SessionMethods {
  /** Opens a session. @returns its opening receipt @throws ServiceError (session_conflict for an id that is taken) */
  openServiceSession(params: OpenServiceSessionParams, call?: CallOptions): Promise<Issued<EnvelopeReceipt>>;
  /**
   * Has the next receipt of a session signed. The same call again returns the same receipt, at no price.
   * @throws ServiceError (session_conflict, with the place that is next in `problem.session`; session_closed; session_key_changed, after
   * which a new session continues this one; session_not_found)
   */
  addSessionReceipt(
    sessionId: string,
    params: AddSessionReceiptParams,
    call?: CallOptions,
  ): Promise<Issued<EnvelopeReceipt>>;
  /** Reads a session as JSON Lines, as `verifySession` takes it. @throws ServiceError (session_not_found, receipt_purged) */
  getSession(sessionId: string, call?: CallOptions): Promise<string>;
}

export function sessionMethods(transport: Transport): SessionMethods {
  return {
    openServiceSession: async ({ sessionId, saltCommitment, continues, parent, anchor }, call) => {
      const members = {
        session_id: sessionId,
        salt_commitment: saltCommitment,
        continues,
        parent,
        anchor,
      };
      return issuedIn(await transport.post('/v1/sessions', members, call));
    },
    addSessionReceipt: async (sessionId, { call: step, requestHash, responseHash, anchor }, call) => {
      const members = { call: step, request_hash: requestHash, response_hash: responseHash, anchor };
      return issuedIn(await transport.post(`${pathOf(sessionId)}/receipts`, members, call));
    },
    getSession: async (sessionId, call) =>
      new TextDecoder().decode(await transport.download(pathOf(sessionId), 'application/jsonl', call)),
  };
}

function pathOf(sessionId: string): string {
  return `/v1/sessions/${pathPart(sessionId, 'sessionId')}`;
}
