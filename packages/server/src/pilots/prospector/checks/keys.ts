import {
  checkTrustBundle,
  isObject,
  type JsonObject,
  type JsonValue,
  secondsOf,
  TallyError,
  type TrustBundle,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import type { Documents } from '../documents.ts';
import { type Answer, type Inspection, isDocument } from '../inspection.ts';

/** Checks whether keys are published, in use, and of the required algorithm. `bundle` is the origin's, if valid. */
export async function checkKeys(
  inspection: Inspection,
  { trust, did, jwks }: Documents,
): Promise<{ readonly checked: boolean; readonly bundle: TrustBundle | null }> {
  const { found, well } = inspection;
  const published = [trust, did, jwks].filter((answer) => answer !== null);
  if (published.length === 0) return { checked: false, bundle: null };
  const sets = [
    ...(did === null ? [] : [{ answer: did, keys: methodsOf(did.json), isEd25519: isEd25519Method }]),
    ...(jwks === null ? [] : [{ answer: jwks, keys: membersOf(jwks.json, 'keys'), isEd25519: isEd25519Jwk }]),
  ];
  let count = trust !== null && isDocument(trust) ? 1 : 0;
  for (const { answer, keys, isEd25519 } of sets) {
    count += keys.length;
    const strange = keys.find((key) => !isEd25519(key));
    if (isDocument(answer) && keys.length === 0) found('keys_missing', 'It lists no key.', answer);
    else if (strange !== undefined) found('key_algorithm', `It lists ${nameOf(strange)}.`, answer);
    else if (keys.length > 0) well('keys', `${answer.evidence.url} lists ${keys.length}, for Ed25519.`);
  }
  if (count === 0) found('keys_missing', 'None of the documents lists a key.', ...published);
  const bundle = trust !== null && isDocument(trust) ? await checkBundle(inspection, trust) : null;
  return { checked: true, bundle };
}

async function checkBundle({ now, found, well }: Inspection, answer: Answer): Promise<TrustBundle | null> {
  try {
    const { bundle } = await checkTrustBundle(answer.json, { now, engine: nodeEngine });
    const active = bundle.issuers
      .filter(({ status }) => status === 'verified')
      .flatMap(({ keys }) => keys)
      .filter(({ purpose, state, valid_from, valid_until }) => {
        const seconds = Math.floor(now / 1000);
        const begun = secondsOf(valid_from) <= seconds;
        const ended = valid_until !== null && secondsOf(valid_until) <= seconds;
        return purpose === 'receipt' && state === 'active' && begun && !ended;
      });
    if (active.length === 0) {
      found('key_inactive', 'No verified issuer has an active receipt key.', answer);
      // No receipt can verify under such a bundle, and this finding already says why.
      return null;
    }
    well('keys', `The trust bundle holds until ${bundle.expires_at}; receipt keys in use: ${active.length}.`);
    return bundle;
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    found(error.code === 'trust_expired' ? 'trust_expired' : 'trust_invalid', error.message, answer);
    return null;
  }
}

function membersOf(document: JsonValue | undefined, name: string): JsonObject[] {
  const list = isObject(document) ? document[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

const methodsOf = (document: JsonValue | undefined): JsonObject[] =>
  membersOf(document, 'verificationMethod');

function isEd25519Method({ type, publicKeyMultibase, publicKeyJwk }: JsonObject): boolean {
  if (isObject(publicKeyJwk)) return isEd25519Jwk(publicKeyJwk);
  if (type === 'Multikey')
    return typeof publicKeyMultibase === 'string' && publicKeyMultibase.startsWith('z6Mk');
  return type === 'Ed25519VerificationKey2020' || type === 'Ed25519VerificationKey2018';
}

/** RFC 8037, section 2. */
function isEd25519Jwk({ kty, crv }: JsonObject): boolean {
  return kty === 'OKP' && crv === 'Ed25519';
}

function nameOf({ id, kid, type, kty, crv }: JsonObject): string {
  const text = [id ?? kid, type ?? kty, crv].filter((one) => typeof one === 'string').join(' ');
  return text === '' ? 'a key without a name' : text;
}
