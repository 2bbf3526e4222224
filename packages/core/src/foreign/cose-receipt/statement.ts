import { claimsOf, keyNameOf } from '../../cose/headers.ts';
import { ALGORITHMS, HEADER, parseSign1, sign1Message } from '../../cose/sign1.ts';
import { defaultEngine } from '../../ed25519/engines.ts';
import { toBase64url } from '../../encoding/base64url.ts';
import { TallyError } from '../../errors.ts';
import { orNull } from '../../or-null.ts';
import { ed25519Key, type ForeignKey, keyName, parseForeignKeys } from '../keys.ts';
import { holds, KEY_KINDS } from '../signature.ts';

/** A Signed Statement (RFC 9943) whose signature holds. */
export interface SignedStatement {
  /** Who issued it, as it says; null if it doesn't say. */
  readonly issuer: string | null;
  readonly subject: string | null;
  /** The key that signed: a did:key. */
  readonly signer: string;
}

type KnownKeys = (name: string) => Promise<readonly Uint8Array[] | undefined>;

/**
 * Checks the signature of a Signed Statement under the key that its `kid` or its issuer names: a did:key, or a name that the caller
 * knows.
 * @param known the Ed25519 keys, 32 bytes each, that may sign now under a name, which is a key's or an issuer's; undefined for a name that
 * is not known
 * @throws cose_invalid; statement_unverified if the key is not to be found, did not sign, or is not the issuer's
 */
export async function openSignedStatement(bytes: Uint8Array, known: KnownKeys): Promise<SignedStatement> {
  const { protectedHeader, protectedBytes, payload, signature } = parseSign1(bytes);
  const algorithm = ALGORITHMS.get(protectedHeader.get(HEADER.alg));
  if (algorithm === undefined) throw unverified('Sign it with EdDSA or ES256: its algorithm is another.');
  if (payload === null)
    throw unverified('Its payload is detached, so that its signature can’t be checked: attach it.');
  const { issuer, subject } = claimsOf(protectedHeader.get(HEADER.claims));
  const names = [keyNameOf(protectedHeader.get(HEADER.kid), toBase64url), issuer].filter(
    (name) => name !== null,
  );
  const found = await Promise.all(names.map((name) => keysOf(name, known)));
  const keys = found.flatMap((own) => own ?? []).filter(({ kind }) => kind === KEY_KINDS[algorithm]);
  if (keys.length === 0)
    throw unverified('Its key is not known: name it in kid (4) or as issuer (15: {1: …}), as a did:key.');
  const signed = {
    algorithm,
    message: sign1Message(protectedBytes, payload),
    signature,
    carried: null,
    keyId: null,
  };
  for (const key of keys) {
    if (!(await holds(signed, key, defaultEngine))) continue;
    const signer = keyName(key);
    if (issuer !== null && !(await mayIssue(issuer, signer, known)))
      throw unverified('Another key than its issuer’s (15: {1: …}) signed it.');
    return { issuer, subject, signer };
  }
  throw unverified('The key that it names did not sign exactly this.');
}

/** Whether an issuer may have signed with a key. One whose name is not known and tells no key may have, since nothing here knows its keys. */
async function mayIssue(issuer: string, signer: string, known: KnownKeys): Promise<boolean> {
  const own = await keysOf(issuer, known);
  return own === undefined || own.some((key) => keyName(key) === signer);
}

async function keysOf(name: string, known: KnownKeys): Promise<readonly ForeignKey[] | undefined> {
  if (name.startsWith('did:key:')) return orNull(() => parseForeignKeys(name.replace(/#.*$/, ''))) ?? [];
  return (await known(name))?.map(ed25519Key);
}

const unverified = (message: string): TallyError => new TallyError('statement_unverified', message);
