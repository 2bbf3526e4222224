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
  /** JSON: how calls with the key are routed where they do not say it themselves; null where nothing was set. */
  readonly routing: string | null;
  /** Id of the API key, or the DID, whose account pays for the key's calls; null where the key has an account of its own. */
  readonly owner: string | null;
  /** Whether the key may make and change keys of its account. */
  readonly manages: 0 | 1;
  /** Whether prompt and answer of its calls are to be kept where a call does not say it itself. */
  readonly keep: 0 | 1;
  /** JSON: limits of the calls with the key, as `Limits` has them; null where there are none. */
  readonly limits: string | null;
  /** When a request last came with the key, to within some seconds; null where none did. */
  readonly lastUsedAt: number | null;
  /** Hash of the key before its last rotation, which is good until `previousUntil`; null where there is none. */
  readonly previousHash: string | null;
  readonly previousUntil: number | null;
}

/** What a key that nobody has changed yet has beside its id, hash, tier, label and time. */
export const UNCHANGED_KEY = {
  revokedAt: null,
  expiresAt: null,
  routing: null,
  owner: null,
  manages: 1,
  keep: 0,
  limits: null,
  lastUsedAt: null,
  previousHash: null,
  previousUntil: null,
} as const satisfies Partial<ApiKeyRow>;

/** What can be changed of a key. */
export type KeyChange = Pick<ApiKeyRow, 'label' | 'limits' | 'expiresAt' | 'manages' | 'keep'>;

/**
 * Reads what a request is let in by, from memory where it can. A change that this process made is seen at once; one of
 * another process at once where processes share a SQLite file, else within a second.
 */
export type KeysInUse = Pick<ApiKeyStore, 'find' | 'get' | 'limitsOf'>;

/** API keys. Durability, ordering and errors are those of `Store`. */
export interface ApiKeyStore {
  readonly inUse: KeysInUse;
  /** @throws where the id or hash is taken */
  put(row: ApiKeyRow): Promise<void>;
  /** By the key's hash or its previous one, revoked and expired ones too. */
  find(hash: string): Promise<ApiKeyRow | null>;
  /** By its id, revoked ones too. */
  get(id: string): Promise<ApiKeyRow | null>;
  /** Revokes by id. A key that is revoked keeps its time. */
  revoke(id: string, at: number): Promise<'revoked' | 'already_revoked' | 'unknown'>;
  /** Replaces the key's `routing`. Returns whether there is a key of that id. */
  setRouting(id: string, routing: string | null): Promise<boolean>;
  /**
   * Replaces the key's members by what `of` makes of the key. Others who change it wait meanwhile, so that `of` sees what
   * they made of it. It may be called more than once. Returns the key as it is then; null where there is none of that id.
   */
  change(id: string, of: (row: ApiKeyRow) => Partial<KeyChange>): Promise<ApiKeyRow | null>;
  /** Replaces the key's hash; the present one stays good until `previousUntil`. Returns whether there is a key of that id. */
  rotate(id: string, hash: string, previousUntil: number): Promise<boolean>;
  /** Notes when keys were last used, by their ids; earlier times than those known change nothing. */
  used(times: ReadonlyMap<string, number>): Promise<void>;
  /**
   * The keys of an account, newest first, revoked ones too: that of the owner's own id, and those that it made.
   * @param before the last key of the page before
   */
  ofOwner(
    owner: string,
    page: { readonly before?: Pick<ApiKeyRow, 'createdAt' | 'id'> | undefined; readonly limit: number },
  ): Promise<ApiKeyRow[]>;
  /** JSON: limits of what the account of a DID pays; null where there are none. */
  limitsOf(did: string): Promise<string | null>;
  /** Replaces the limits of a DID by what `of` makes of them, so that none of two changes at once is lost. Resolves to the new limits. */
  changeLimitsOf(did: string, of: (limits: string | null) => string | null): Promise<string | null>;
  /** Oldest first, a page at a time. */
  list(): AsyncIterable<ApiKeyRow>;
}
