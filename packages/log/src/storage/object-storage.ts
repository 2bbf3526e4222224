/**
 * Where the files of a log are stored, by their C2SP paths: `checkpoint`, `tile/0/x001/234.p/56`, `tile/entries/000`.
 * What was stored is durable, and seen by every reader, when a method resolves. Objects are small, and their paths come
 * from this package alone. Every method throws `unavailable` where the storage cannot be reached or refuses.
 */
export interface ObjectStorage {
  /** What messages call it, such as a folder or a bucket. It has no secrets. */
  readonly name: string;
  /**
   * Makes sure that objects can be written, and that `create` overwrites none.
   * @throws unavailable that says what to change
   */
  check(): Promise<void>;
  /** The bytes at a path; null where there is nothing. */
  get(path: string): Promise<Uint8Array | null>;
  /** Stores an object that never changes, unless there is one at the path already. Returns whether it was stored. */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /**
   * Stores an object that changes, if `isNewer` says so of what is there (null where there is nothing). It is asked
   * again where another process has replaced the object meanwhile, so that nothing newer is overwritten.
   */
  replace(
    path: string,
    bytes: Uint8Array,
    isNewer: (current: Uint8Array | null) => Promise<boolean>,
  ): Promise<void>;
}

/** Times that `replace` is tried again after another process was faster. */
export const REPLACE_TRIES = 5;
