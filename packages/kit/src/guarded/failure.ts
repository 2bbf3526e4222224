/** Why a guarded fetch came to nothing. */
export type FetchFault =
  /** The URL itself may not be called: scheme, port, credentials. */
  | 'url'
  /** The host is, or one of its addresses is, none that may be called. */
  | 'address'
  | 'dns'
  | 'connect'
  | 'tls'
  /** It points to another origin, or too many times on. */
  | 'redirect'
  | 'headers_too_large'
  | 'body_too_large'
  /** The body comes in a Content-Encoding that was not asked for. */
  | 'encoded'
  /** Bytes come slower than is allowed. */
  | 'slow'
  /** The whole took too long. */
  | 'timeout'
  /** The connection ended before the answer did. */
  | 'cut'
  | 'aborted';

/** `message` is public: it names no address and quotes nothing from the system. */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError';
  readonly fault: FetchFault;
  readonly url: string;
  /** Bytes of body that had come. */
  readonly received: number;

  constructor(fault: FetchFault, message: string, { url, received = 0 }: { url: string; received?: number }) {
    super(message);
    this.fault = fault;
    this.url = url;
    this.received = received;
  }
}
