import {
  canonicalBytes,
  isObject,
  type JsonObject,
  parseJson,
  type Signer,
  sha256Hex,
  toBase64url,
  utf8,
} from '../../packages/core/src/index.ts';

/** Functions that sign documents without the emitters, which refuse some of them. Each takes the document without signature. */

export async function signature(value: JsonObject, signer: Signer): Promise<string> {
  return toBase64url(await signer.sign(canonicalBytes(value)));
}

/** Family A: the signature goes to `signatures.svc`. */
export async function signEnvelope(body: JsonObject, signer: Signer): Promise<JsonObject> {
  const { signatures: _replaced, ...signed } = body;
  return { ...signed, signatures: { requester: null, operator: null, svc: await signature(signed, signer) } };
}

/** Family B and older receipts: the signature goes to `receipt.sig_b64u`. */
export async function signByReference(body: JsonObject, signer: Signer): Promise<JsonObject> {
  if (!isObject(body.receipt)) throw new TypeError('A profile has a member receipt.');
  const { sig_b64u: _replaced, ...reference } = body.receipt;
  const sig_b64u = await signature({ ...body, receipt: reference }, signer);
  return { ...body, receipt: { ...reference, sig_b64u } };
}

/** An issuer's own receipt: the signature goes to `sig_b64u`. */
export async function signIssue(body: JsonObject, signer: Signer): Promise<JsonObject> {
  const { sig_b64u: _replaced, ...signed } = body;
  return { ...signed, sig_b64u: await signature(signed, signer) };
}

/** Family C: the top level follows from the signed body. `compiledAt` is Unix seconds. */
export async function signMetering(
  body: JsonObject,
  compiledAt: number,
  signer: Signer,
): Promise<JsonObject> {
  const digest = sha256Hex(canonicalBytes(body));
  return {
    receipt_id: `r_sls.metering_${compiledAt}_${digest.slice(0, 12)}`,
    payload_sha256: digest,
    sig_b64u: await signature(body, signer),
    key_id: signer.keyId,
    algorithm: 'Ed25519',
    ts: compiledAt,
    signed_body: body,
  };
}

/** An emitter's JCS text as a document. */
export function asDocument(text: string): JsonObject {
  const document = parseJson(utf8(text));
  if (!isObject(document)) throw new TypeError('An emitter writes an object.');
  return document;
}
