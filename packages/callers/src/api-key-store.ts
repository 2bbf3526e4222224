/** A key as it is kept: never the key itself. Times are unix seconds. */
export interface ApiKeyRow {
  /** Public name of the key, for lists and logs: `key_` and 16 random base36 characters. */
  readonly id: string;
  /** Hex HMAC-SHA256 of the key. Unique. */
  readonly hash: string;
  /** `pro`, `scale`, `enterprise`; `partner` for a key that opens the pilots and has no tier. */
  readonly tier: string;
  /** What the operator wrote down about it. */
  readonly label: string | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** The key is good until then; null where it has no end. */
  readonly expiresAt: number | null;
}

/** API keys. Durability, ordering and errors are those of `Store`. */
export interface ApiKeyStore {
  /** @throws where the id or hash is taken */
  put(row: ApiKeyRow): Promise<void>;
  /** By the key's hash, revoked and expired ones too. */
  find(hash: string): Promise<ApiKeyRow | null>;
  /** By its id, revoked ones too. */
  get(id: string): Promise<ApiKeyRow | null>;
  /** Revokes by id. A key that is revoked keeps its time. */
  revoke(id: string, at: number): Promise<'revoked' | 'already_revoked' | 'unknown'>;
  /** Oldest first, a page at a time. */
  list(): AsyncIterable<ApiKeyRow>;
}
