/** Named documents in versions, as JSON text. */
export interface DocumentStore {
  /** The newest version of a named document. */
  getDocument(name: string): Promise<{ version: number; body: string } | null>;

  /** The body of one version of a named document, or null. */
  getDocumentVersion(name: string, version: number): Promise<string | null>;

  /** Adds a version, which must be greater than every stored one of that name; older ones are kept. */
  putDocument(name: string, version: number, body: string): Promise<'stored' | 'stale'>;

  /** As `putDocument`, but deletes the older versions: for a document that is only of use while it is new. */
  replaceDocument(name: string, version: number, body: string): Promise<'stored' | 'stale'>;
}
