/** One request and its answer, as far as the report shows it. */
export interface Evidence {
  readonly method: string;
  readonly url: string;
  /** Null where no answer came. */
  readonly status: number | null;
  /** The start of the answer's body, in one line and without secrets; at most `EXCERPT_BYTES` of UTF-8. */
  readonly excerpt: string;
}

const EXCERPT_BYTES = 200;
/** Bytes that are searched for secrets: enough to see one whole before the text is cut. */
const LOOKED_AT = 4096;

/** Whole control sequences of a terminal (ECMA-48, section 5.4), so that no rest of one can hide the start of a secret. */
const TERMINAL = /\p{Cc}\[[0-?]*[ -/]*[@-~]/gu;

const SECRETS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----.*/gs,
  /k_[a-z]{2,10}_[0-9A-Za-z]{8,}/g,
  /\b(?:sk|rk|pat|gh[pousr]|xox[abprs])[-_][\w-]{16,}/g,
  /\bAKIA[0-9A-Z]{12,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g,
  /\b(?:bearer|basic) +[\w.~+/=-]{8,}/gi,
  /(?<="(?:password|passwd|secret|client_secret|token|access_token|refresh_token|api_?key|authorization|cookie)"\s*:\s*)"(?:[^"\\]|\\.)*"?/gi,
];

/** The start of a body, as `shown`, in at most `EXCERPT_BYTES` bytes. */
export function excerptOf(body: Uint8Array): string {
  return shown(new TextDecoder().decode(body.subarray(0, LOOKED_AT)), EXCERPT_BYTES);
}

/** Makes text from outside safe to show: one line, without control characters and secrets, at most so many bytes of UTF-8. */
export function shown(text: string, bytes: number): string {
  const line = text
    .slice(0, LOOKED_AT)
    .replaceAll(TERMINAL, '')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ');
  const clean = SECRETS.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), line);
  return cutTo(bytes, clean.trim());
}

function cutTo(bytes: number, text: string): string {
  let length = 0;
  let kept = '';
  for (const character of text) {
    length += Buffer.byteLength(character);
    if (length > bytes) break;
    kept += character;
  }
  return kept;
}
