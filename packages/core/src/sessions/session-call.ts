import { utf8 } from '../encoding/bytes.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalize } from '../json/canonical.ts';
import {
  constant,
  type Infer,
  listOf,
  nonEmptyText,
  nullable,
  object,
  oneOf,
  pattern,
  receiptIdOf,
  requireShape,
  sha256Text,
} from '../receipts/shape.ts';

/** Begins everything that is hashed for a session and is not a receipt. */
const SESSION_VERSION = 'svc-session-v1';

/** Most UTF-8 bytes of the name of a tool or a server; a longer one is replaced by its hash. */
const MAX_NAME_BYTES = 128;

/** 128 random bits. */
export const sessionId = pattern(/^[0-9a-f]{32}$/, '32 lower-case hex characters');
/** A number of a receipt. */
export const decimal = pattern(/^(?:0|[1-9][0-9]{0,14})$/, 'a whole number in decimal digits');

/** Place of a receipt in its session: from 0 without a gap, each with the anchored hash of the one before. */
const place = object({ id: sessionId, seq: decimal, prev: sha256Text });

/** The first receipt of a session. */
const opening = object(
  {
    kind: constant('session'),
    event: constant('open'),
    /** SHA-256 of `session_salt`. */
    salt_commitment: sha256Text,
    session: place,
  },
  {
    optional: {
      /** The closed session that this one goes on from, under another key. */
      continues: object({ id: sessionId, count: decimal, head: sha256Text }),
      /** The receipt of the session that this one was begun from. */
      parent: object({ id: sessionId, seq: decimal, receipt_sha256: sha256Text }),
    },
  },
);

/** The last receipt of a closed session. */
const closing = object({
  kind: constant('session'),
  event: constant('close'),
  /** Number of receipts, opening and closing included. */
  count: decimal,
  /** The anchored hash of the receipt before. */
  head: sha256Text,
  session: place,
});

const OUTCOMES = ['completed', 'error', 'denied', 'cancelled', 'unknown'] as const;

/** What became of a tool call. `unknown`: the recorder ended before the answer came. */
export type ToolOutcome = (typeof OUTCOMES)[number];

const server = object({
  name: nonEmptyText,
  version: nullable(nonEmptyText),
  transport: oneOf('stdio', 'http', 'in_process'),
  /** SHA-256 of what identifies the server, such as its command line; null if that is not known. */
  identity_sha256: nullable(sha256Text),
});

/** A call of a tool; `request.hash` and `response.hash` cover arguments and result, salted. */
const tool = object(
  {
    kind: constant('tool'),
    tool: nonEmptyText,
    server,
    outcome: oneOf(...OUTCOMES),
    session: place,
  },
  {
    optional: {
      /** Which of the two is no I-JSON, and hashed as the bytes that it came in. */
      raw: listOf(oneOf('arguments', 'result')),
    },
  },
);

/** A receipt that somebody else signed and that belongs here: of a model call, or the opening of a sub-agent's session. */
const reference = object(
  { kind: constant('reference'), receipt_id: receiptIdOf('env'), receipt_sha256: sha256Text, session: place },
  {
    optional: {
      /** Id of the sub-agent's session. */
      child: sessionId,
    },
  },
);

export type SessionPlace = Infer<typeof place>;
export type SessionOpening = Infer<typeof opening>;
type SessionClosing = Infer<typeof closing>;
export type ToolCall = Infer<typeof tool>;
export type ToolServer = Infer<typeof server>;
type SessionReference = Infer<typeof reference>;
/** The member `call` of a session's receipts (spec/sessions.md). */
export type SessionCall = SessionOpening | SessionClosing | ToolCall | SessionReference;

const named = object({ tool: nonEmptyText, server });

/**
 * Checks what is known of a call of a tool before it goes on, so that it can have a receipt when it has ended.
 * @throws invalid_field; json_* for texts that are no Unicode
 */
export function checkToolCall({ tool, server: by }: Pick<ToolCall, 'tool' | 'server'>): void {
  const call = { tool, server: { ...by } };
  requireShape(named, call);
  canonicalize(call);
}

/** The rule that a value claims to keep, by its `kind` and `event`; null if it is of no session. */
export function sessionCallShapeOf({ kind, event }: { readonly kind?: unknown; readonly event?: unknown }) {
  if (kind === 'tool') return tool;
  if (kind === 'reference') return reference;
  if (kind !== 'session') return null;
  return event === 'close' ? closing : opening;
}

/** `prev` of a session's first receipt. */
export function rootOf(id: string): string {
  return `sha256:${sha256Hex(utf8(`${SESSION_VERSION}\n${id}`))}`;
}

/** A name as it stands in a receipt: a long one as its hash. */
export function shortName(name: string): string {
  const bytes = utf8(name);
  return bytes.length > MAX_NAME_BYTES ? `sha256:${sha256Hex(bytes)}` : name;
}
