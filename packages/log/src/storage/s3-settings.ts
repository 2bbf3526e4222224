/** A bucket, and what the key of each object begins with: empty, or text that ends with a slash. */
export interface S3Location {
  readonly bucket: string;
  readonly prefix: string;
}

/** How a bucket is reached. */
export interface S3Settings {
  /** Null for the one that AWS's client finds in its environment and files. */
  readonly region: string | null;
  /** URL of a server with the interface of S3; null for AWS. */
  readonly endpoint: string | null;
  /** Null to look where AWS's client always does, with this credentials file and profile. */
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  } | null;
  readonly file: { readonly filepath: string; readonly profile: string };
}
