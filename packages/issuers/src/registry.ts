import {
  applyStatement,
  CLOCK_SKEW,
  canonicalize,
  copyJson,
  type IssuerDocument,
  type SignedStatement,
  secondsOf,
  TallyError,
} from '@tallystick/core';
import { type IdempotencyRecord, keyReusedError, nodeEngine, ownDocument, replayOf } from '@tallystick/kit';
import type { IssuerStore } from './issuer-store.ts';
import type { OwnIssuer } from './own-issuer.ts';

/** Handles that are reserved; `local` and those derived from a root name services in development. */
const RESERVED = /^(?:anonymous|svc|member|root|admin|tallystick|local(?:-[0-9a-f]{8})?)$/;
const MAX_STATEMENTS = 200;

export interface Registry {
  /** The published record of an issuer: the service itself, or one from the registry. */
  document(did: string): Promise<IssuerDocument | null>;
  /**
   * Registers a handle or changes its keys. Resolves to the JCS text of the record once it is durable.
   * @throws issuer_exists, issuer_not_found, issuer_conflict, issuer_proof_invalid, invalid_field, idempotency_key_reused
   */
  apply(signed: SignedStatement, idempotency: IdempotencyRecord | undefined): Promise<string>;
}

/** @param changed called when a record has changed */
export function createRegistry(
  store: IssuerStore,
  issuer: OwnIssuer,
  clock: () => number,
  changed: () => void,
): Registry {
  const stored = async (did: string): Promise<{ document: IssuerDocument; revision: number } | null> => {
    const found = await store.getIssuer(did);
    if (found === null) return null;
    return { document: ownDocument<IssuerDocument>(found.record), revision: found.sequence };
  };
  return {
    async document(did) {
      if (did === issuer.did) return issuer.keyring.document;
      return (await stored(did))?.document ?? null;
    },
    async apply(signed, idempotency) {
      const { statement } = signed;
      assertAcceptable(signed, issuer.did, clock());
      const before = await stored(statement.did);
      // Looked up after the record: a concurrent duplicate either has not changed the record yet, or is found here.
      const earlier = await replayOf(store, idempotency, clock());
      if (earlier !== null) return earlier.response;
      const document = canonicalize(
        copyJson(await applyStatement(before?.document ?? null, signed, nodeEngine)),
      );
      const outcome = await store.putIssuer(
        statement.did,
        document,
        (before?.revision ?? 0) + 1,
        idempotency === undefined ? undefined : { ...idempotency, response: document },
      );
      if (outcome === 'conflict') {
        throw new TallyError(
          'issuer_conflict',
          `${statement.did} was changed at the same moment. Read it and try again.`,
        );
      }
      if (outcome === 'stored') {
        changed();
        return document;
      }
      if (outcome.kind === 'reused') throw keyReusedError();
      return outcome.response;
    },
  };
}

function assertAcceptable({ statement }: SignedStatement, audience: string, now: number): void {
  const { did, action, purpose, sequence, at } = statement;
  if (statement.audience !== audience) {
    throw invalid(
      'statement.audience',
      `The statement is addressed to ${statement.audience}, but this service is ${audience}.`,
    );
  }
  if (did === audience || RESERVED.test(did.slice('did:svc:'.length))) {
    throw new TallyError('issuer_exists', `${did} is reserved.`, { field: 'statement.did' });
  }
  if (purpose !== 'receipt') throw invalid('statement.purpose', 'Issuers can register receipt keys only.');
  if (sequence > MAX_STATEMENTS) {
    throw invalid('statement.sequence', `A record holds at most ${MAX_STATEMENTS} statements.`);
  }
  const seconds = secondsOf(at);
  const present = Math.floor(now / 1000);
  const tooEarly = action !== 'revoke_key' && seconds < present - CLOCK_SKEW;
  const tooLate = action !== 'retire_key' && seconds > present + CLOCK_SKEW;
  if (tooEarly || tooLate) {
    throw invalid(
      'statement.at',
      `A ${action} statement must take effect within ${CLOCK_SKEW} s of now; this one says ${at}.`,
    );
  }
}

function invalid(field: string, message: string): TallyError {
  return new TallyError('invalid_field', message, { field });
}
