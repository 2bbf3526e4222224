/** The tables, as `migrations/` leaves them. Times are unix seconds. */
export interface Schema {
  receipts: {
    id: string;
    profile: string;
    tenant: string | null;
    /** Null once purged. */
    body: string | null;
    issued_at: number;
    expires_at: number;
  };
  idempotency: {
    scope: string;
    request_hash: string;
    /** The receipt whose body is the response, so that a body is written once. */
    receipt_id: string | null;
    /** The response where it is no receipt. */
    response: string | null;
    expires_at: number;
  };
  counters: { counter: string; used: number; expires_at: number };
  issuers: { did: string; record: string; sequence: number };
  documents: { name: string; version: number; body: string };
  schema_migrations: { version: number; name: string; applied_at: number };
}
