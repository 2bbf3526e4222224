/** Why a guarded fetch failed. */
export type FetchFault =
  /** The URL itself is refused, for its scheme, port or credentials. */
  | 'url'
  /** The host, or one of its addresses, is refused. */
  | 'address'
  | 'dns'
  | 'connect'
  | 'tls'
  /** A redirect leads to another origin, or there are too many. */
  | 'redirect'
  | 'headers_too_large'
  | 'body_too_large'
  /** The body has a Content-Encoding, which was not asked for. */
  | 'encoded'
  /** The body arrives more slowly than the limit. */
  | 'slow'
  /** The whole fetch took too long. */
  | 'timeout'
  /** The connection ended before the response did. */
  | 'cut'
  | 'aborted';

/** `message` is public: it names no address and quotes nothing from the system. */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError';
  readonly fault: FetchFault;
  readonly url: string;
  /** Number of bytes of the body that had arrived. */
  readonly received: number;

  constructor(fault: FetchFault, message: string, { url, received = 0 }: { url: string; received?: number }) {
    super(message);
    this.fault = fault;
    this.url = url;
    this.received = received;
  }
}
