import { TallyError } from '../errors.ts';

const maxCharacters = 2048;
const didSyntax = /^did:([a-z0-9]+):((?:[\w.:-]|%[0-9A-Fa-f]{2})+)(?<!:)$/;

/** A DID in its two parts: `did:<method>:<id>`. */
export interface Did {
  readonly method: string;
  readonly id: string;
}

/** Returns whether `text` is a DID (W3C DID Core 1.0, section 3.1) of at most 2,048 characters, of any method. */
export function isDid(text: string): boolean {
  return text.length <= maxCharacters && didSyntax.test(text);
}

/** The method and the method-specific id of a DID, without path, query or fragment. @throws invalid_did */
export function parseDid(text: string): Did {
  const match = text.length <= maxCharacters ? didSyntax.exec(text) : null;
  const [, method, id] = match ?? [];
  if (method === undefined || id === undefined) {
    throw new TallyError('invalid_did', 'Expected a DID of at most 2,048 characters, such as did:key:z6Mk….');
  }
  return { method, id };
}
