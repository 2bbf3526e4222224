import type { IdempotencyReader, IdempotencyRecord, Repeated } from '@tallystick/kit';

export interface IssuerRow {
  did: string;
  /** JSON text, stored byte for byte. */
  record: string;
  sequence: number;
}

export interface IssuerStore extends IdempotencyReader {
  getIssuer(did: string): Promise<{ record: string; sequence: number } | null>;

  /**
   * Compare-and-swap: sequence 1 inserts, sequence n replaces n-1, anything else is a `conflict`. With
   * `idempotency`, the record is written in the same transaction and replays `response`; a conflict
   * writes none.
   */
  putIssuer(
    did: string,
    record: string,
    sequence: number,
    idempotency?: IdempotencyRecord & { readonly response: string },
  ): Promise<'stored' | 'conflict' | Repeated>;

  /**
   * Yields the issuers in the byte order of their DIDs, a page at a time; optionally only those whose record
   * has this `status` member. A record that changes meanwhile is returned once, old or new.
   */
  listIssuers(filter?: { readonly status?: string }): AsyncIterable<IssuerRow>;
}
