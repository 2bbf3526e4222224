export interface Reply {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /**
   * Bytes of the body as they arrive. It can be iterated once.
   * @throws ProviderError unreachable before the first of them, cut after it, timeout, aborted
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Must be called in any case. A body that was read to its last message keeps its connection. */
  close(complete: boolean): void;
}
