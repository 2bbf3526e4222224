import type { Reply } from '../http/transport.ts';

/** A signed receipt: the document as it was parsed, and its text to the byte as it was signed and answered. */
export interface Issued<Receipt> {
  readonly receipt: Receipt;
  /** Keep this: it is what anybody can verify later. */
  readonly text: string;
}

/** A service's answer as the receipt that was asked for. Whether it is one, verifying says. */
export function issuedIn<Receipt>({ json, text }: Pick<Reply, 'json' | 'text'>): Issued<Receipt> {
  return { receipt: json as Receipt, text };
}
