import { toBase64url } from '../../encoding/base64url.ts';
import { toHex } from '../../encoding/hex.ts';
import { sha256 } from '../../hash.ts';
import { canonicalBytes } from '../../json/canonical.ts';
import type { JsonObject, JsonValue } from '../../json/types.ts';
import {
  constant,
  hex64,
  integer,
  isObject,
  nonEmptyText,
  object,
  pattern,
  type Rule,
  text,
} from '../../receipts/shape.ts';

/**
 * The forms of Acta receipts (draft-farley-acta-signed-receipts-00 to -03, and the `spec.md` and schema of
 * agent-governance-testvectors). One description for who reads them and who writes them.
 */
export interface ActaForm {
  readonly name: 'v1' | 'v2' | 'v2-artifact' | 'draft';
  recognises(document: JsonObject): boolean;
  readonly shape: Rule<JsonObject>;
  /** The value whose JCS bytes are signed. */
  signed(document: JsonObject): JsonObject;
  /** 64 bytes as 128 lower-case hex characters. */
  signature(document: JsonObject): string;
  /** 32 bytes as 64 lower-case hex characters; null if the receipt carries no key. */
  publicKey(document: JsonObject): string | null;
}

const hex128: Rule<string> = pattern(/^[0-9a-f]{128}$/, '128 lower-case hex characters');
const anyObject = object({});

const textIn = (object: JsonValue | undefined, name: string): string | null => {
  const value = isObject(object) ? object[name] : undefined;
  return typeof value === 'string' ? value : null;
};

/** A receipt whose members stand beside its signature. */
const flat = {
  signed({ signature: _signature, ...signed }: JsonObject): JsonObject {
    return signed;
  },
  signature: (document: JsonObject): string => textIn(document, 'signature') ?? '',
  publicKey: (document: JsonObject): string | null => textIn(document, 'public_key'),
};

/** A receipt whose facts stand in `payload`, which alone is signed. */
const payloadOf = ({ payload }: JsonObject): JsonObject => (isObject(payload) ? payload : {});

/** v1 flat, as protect-mcp wrote it. */
const v1: ActaForm = {
  ...flat,
  name: 'v1',
  recognises: (document) =>
    'receipt_version' in document && 'tool_name' in document && 'signature' in document,
  shape: object(
    {
      receipt_id: nonEmptyText,
      receipt_version: constant('1.0'),
      tool_name: text,
      decision: nonEmptyText,
      policy_id: text,
      timestamp: nonEmptyText,
      public_key: hex64,
      signature: hex128,
    },
    { optional: { sequence: integer(0) } },
  ) as Rule<JsonObject>,
};

/** v2 envelope, as sb-runtime and `tally mcp wrap --format acta` write it. */
const v2Shape = object({
  payload: object(
    {
      type: pattern(/^scopeblind\.receipt\.v\d+$/, 'scopeblind.receipt.v and a number'),
      decision: nonEmptyText,
      action: object({ kind: text, target: text }),
      sequence: integer(0),
      timestamp: nonEmptyText,
    },
    { optional: { prev_hash: text } },
  ),
  signature: hex128,
  pubkey: hex64,
});

const v2: ActaForm = {
  name: 'v2',
  recognises: ({ payload, pubkey, signature }) =>
    isObject(payload) && pubkey !== undefined && signature !== undefined,
  shape: v2Shape,
  signed: payloadOf,
  signature: flat.signature,
  publicKey: (document) => textIn(document, 'pubkey'),
};

/** The artifact with `v: 2`, as the APS gateway writes it. It names its key by the JWK thumbprint in `kid`. */
const artifact: ActaForm = {
  ...flat,
  name: 'v2-artifact',
  recognises: ({ v, payload, signature }) => v === 2 && isObject(payload) && typeof signature === 'string',
  shape: object(
    {
      type: nonEmptyText,
      algorithm: constant('ed25519'),
      kid: nonEmptyText,
      issued_at: nonEmptyText,
      payload: anyObject,
      signature: hex128,
    },
    { optional: { public_key: hex64 } },
  ) as Rule<JsonObject>,
};

/**
 * The envelope of the draft itself: `{payload, signature: {alg, kid, sig}}`. The members that section 2.2 asks of every payload keep
 * other JCS texts that a key has signed from passing for a receipt.
 */
const draft: ActaForm = {
  name: 'draft',
  recognises: ({ payload, signature }) => isObject(payload) && isObject(signature) && 'alg' in signature,
  shape: object({
    payload: object({ type: nonEmptyText, issued_at: nonEmptyText, issuer_id: nonEmptyText }),
    signature: object(
      { alg: constant('EdDSA'), kid: nonEmptyText, sig: hex128 },
      { optional: { pubkey: hex64 } },
    ),
  }) as Rule<JsonObject>,
  signed: payloadOf,
  signature: ({ signature }) => textIn(signature, 'sig') ?? '',
  publicKey: ({ signature }) => textIn(signature, 'pubkey'),
};

const ACTA_FORMS: readonly ActaForm[] = [v2, artifact, draft, v1];

/** The members that name the receipt before: each producer has its own. */
const LINKS = ['previousReceiptHash', 'previous_receipt_hash', 'parent_receipt_hash', 'prev_hash'] as const;

/** The link to the receipt before; null for the first one, which has none, null, an empty text or `genesis`. */
export function linkOf(receipt: JsonObject): string | null {
  for (const holder of signedHolders(receipt)) {
    for (const name of LINKS) {
      const link = textIn(holder, name);
      if (link !== null && link !== '' && link !== 'genesis') return link;
    }
  }
  return null;
}

/** The place of a receipt in its chain; null if it names none. */
export function sequenceOf(receipt: JsonObject): number | null {
  const sequence = signedHolders(receipt).find((holder) => 'sequence' in holder)?.sequence;
  return typeof sequence === 'number' && Number.isSafeInteger(sequence) ? sequence : null;
}

/** The objects in which the draft or a producer puts a fact of a receipt; all of them are signed. */
export function signedHolders(receipt: JsonObject): readonly JsonObject[] {
  const signed = formOf(receipt)?.signed(receipt) ?? {};
  return [payloadOf(signed), signed];
}

/** What a link is the SHA-256 of, in JCS. The draft's is the whole receipt, signature included. */
export const LINK_SCOPES = {
  'the whole receipt': (receipt) => receipt,
  'the signed contents alone': (receipt) => formOf(receipt)?.signed(receipt) ?? receipt,
  'the receipt without signature and key': ({ signature: _signature, public_key: _key, ...rest }) => rest,
} as const satisfies Record<string, (receipt: JsonObject) => JsonObject>;

export type LinkScope = keyof typeof LINK_SCOPES;

/** Every text that names `receipt` in a link of this scope; the first is the draft's, `sha256:` and hex. */
export function linksTo(receipt: JsonObject, scope: LinkScope): readonly [string, ...string[]] {
  const hash = sha256(canonicalBytes(LINK_SCOPES[scope](receipt)));
  return [`sha256:${toHex(hash)}`, toHex(hash), toBase64url(hash)];
}

export function formOf(document: JsonObject): ActaForm | undefined {
  return ACTA_FORMS.find((form) => form.recognises(document));
}
