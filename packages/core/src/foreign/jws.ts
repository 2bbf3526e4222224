import { fromBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonValue } from '../json/types.ts';
import { orNull } from '../or-null.ts';
import { isObject, object, oneOf, text } from '../receipts/shape.ts';
import { ForeignFault, type ForeignSignature, orFault, requireForm } from './family.ts';
import { type ForeignKey, keyOfDidKey, keyOfJwk } from './keys.ts';

const jwsHeader = object({ alg: oneOf('EdDSA', 'ES256', 'ES256K') }, { optional: { kid: text } });

/** Reads a JWS in its compact form (RFC 7515, section 7.1). @throws ForeignFault */
export function readJws(jws: string): { readonly payload: JsonValue; readonly signature: ForeignSignature } {
  const parts = jws.split('.');
  const [header = '', payload = '', signature = ''] = parts;
  if (parts.length !== 3) throw new ForeignFault('The JWS has not three parts.');
  const decoded = orFault(
    () => ({
      header: parseJson(fromBase64url(header)),
      payload: parseJson(fromBase64url(payload)),
      signature: fromBase64url(signature),
    }),
    'The JWS is not base64url of JSON.',
  );
  if (!isObject(decoded.header)) throw new ForeignFault('The header of the JWS is not an object.');
  const { alg, kid = null } = requireForm(jwsHeader, decoded.header);
  if ('crit' in decoded.header)
    throw new ForeignFault('The JWS has critical extensions, which are not supported.');
  return {
    payload: decoded.payload,
    signature: {
      algorithm: alg,
      message: utf8(`${header}.${payload}`),
      signature: decoded.signature,
      carried: kid === null ? null : orNull(() => keyInDid(kid)),
      keyId: kid,
    },
  };
}

/** The key that a DID URL of did:key or did:jwk contains; null for another method. @throws invalid_public_key, json_* */
function keyInDid(kid: string): ForeignKey | null {
  const [did = ''] = kid.split('#');
  if (did.startsWith('did:key:')) return keyOfDidKey(did);
  return did.startsWith('did:jwk:') ? keyOfJwk(parseJson(fromBase64url(did.slice('did:jwk:'.length)))) : null;
}
