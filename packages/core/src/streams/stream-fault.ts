/** What speaks against a stream, with the receipt at fault where one can be named. */
export interface StreamFault {
  /**
   * `left_out`: the heads count a receipt that is not here; `added`: a receipt is here that they don't count; `moved`:
   * two hashes are not in their places; `chain`: the hashes do not lead to a head, and no single change explains it;
   * `heads`: the heads do not follow from one another.
   */
  readonly kind: 'left_out' | 'added' | 'moved' | 'chain' | 'heads';
  /** Place in the stream, from 1; null where it has none or is not known. */
  readonly index: number | null;
  /** Anchored hash of the receipt, in hex; null where it is not known. */
  readonly sha256: string | null;
  readonly detail: string;
}

export function leftOut(index: number, sha256: string): StreamFault {
  return {
    kind: 'left_out',
    index,
    sha256,
    detail: `The receipt with the hash ${sha256}, number ${index} of the stream, is not here.`,
  };
}

export function addedFault(sha256: string): StreamFault {
  return {
    kind: 'added',
    index: null,
    sha256,
    detail: `The receipt with the hash ${sha256} is not counted by the heads.`,
  };
}
