import type { Reply } from '../http/transport.ts';

/** A signed receipt: the parsed document, and its exact text as it was signed and answered. */
export interface Issued<Receipt> {
  readonly receipt: Receipt;
  /** The exact text. Keep it: anybody can verify it later. */
  readonly text: string;
}

/** A service's answer as the receipt that was asked for. Its form and signature are not checked here. */
export function issuedIn<Receipt>({ json, text }: Pick<Reply, 'json' | 'text'>): Issued<Receipt> {
  return { receipt: json as Receipt, text };
}
