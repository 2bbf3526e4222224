import { fromBase64 } from '../../encoding/base64.ts';
import { concatBytes, utf8 } from '../../encoding/bytes.ts';
import { parseJson } from '../../json/parse.ts';
import { orNull } from '../../or-null.ts';
import { type Check, failed, passed, unchecked } from '../../receipts/family.ts';
import { constant, isObject, listOf, nonEmptyText, object, text } from '../../receipts/shape.ts';
import { type ForeignFamily, ForeignFault, type ForeignSignature, requireForm } from '../family.ts';

/** Most signatures of one envelope that are tried. */
const MAX_SIGNATURES = 64;

const shape = object({
  payloadType: nonEmptyText,
  payload: text,
  signatures: listOf(
    object({ sig: nonEmptyText }, { optional: { keyid: text } }),
    `a list of at most ${MAX_SIGNATURES} signatures`,
    MAX_SIGNATURES,
  ),
});

const IN_TOTO = 'application/vnd.in-toto+json';

/** in-toto Attestation Framework, Statement v1. */
const statement = object({
  _type: constant('https://in-toto.io/Statement/v1'),
  subject: listOf(object({ digest: object({}) }), 'a list of subjects with digests'),
  predicateType: nonEmptyText,
});

/** DSSE v1 envelopes; the payload of one with an in-toto statement is read as well. */
export const dsse: ForeignFamily = {
  name: 'dsse',
  recognises: (document) => isObject(document) && 'payloadType' in document && 'signatures' in document,
  read(document) {
    const { payloadType, payload, signatures } = requireForm(shape, document);
    const bytes = base64(payload, 'payload');
    const message = preAuthentication(payloadType, bytes);
    const read = signatures.flatMap(({ sig, keyid }) =>
      signaturesOf(message, base64(sig, 'sig'), keyid || null),
    );
    if (read.length === 0) throw new ForeignFault('It has no signature.');
    const isStatement = payloadType === IN_TOTO;
    return [
      {
        profile: isStatement ? 'in-toto' : payloadType,
        id: null,
        issuedAt: null,
        signatures: read,
        checks: [
          isStatement
            ? statementCheck(bytes)
            : unchecked('statement', `A payload of ${payloadType} is not read.`),
        ],
        document,
      },
    ];
  },
  notes: () => [
    'The envelope signs its payload and the type of it, and nothing else: no order, and no other envelope. Others can be left out without a trace.',
    'The subjects are digests: whether an artifact is one of them is not checked here, nor whether the predicate is true.',
    'It is signed without a time. One signature by a known key is enough; others in the envelope are not looked at.',
  ],
};

/** The bytes that are signed (DSSE v1.0, protocol.md, "Signature Definition"). */
function preAuthentication(type: string, payload: Uint8Array): Uint8Array {
  return concatBytes(utf8(`DSSEv1 ${utf8(type).length} ${type} ${payload.length} `), payload);
}

/** Only the key tells of which algorithm a signature is, so each is offered as both. */
function signaturesOf(
  message: Uint8Array,
  signature: Uint8Array,
  keyId: string | null,
): readonly ForeignSignature[] {
  return (['EdDSA', 'ECDSA'] as const).map((algorithm) => ({
    algorithm,
    message,
    signature,
    carried: null,
    keyId,
  }));
}

/** Base64 in either alphabet, as DSSE allows. @throws ForeignFault */
function base64(encoded: string, member: string): Uint8Array {
  const standard = encoded.replaceAll('-', '+').replaceAll('_', '/');
  const bytes = fromBase64(standard) ?? fromBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, '='));
  if (bytes === null) throw new ForeignFault(`${member} is not base64.`);
  return bytes;
}

function statementCheck(payload: Uint8Array): Check {
  const document = orNull(() => parseJson(payload));
  if (document === null) return failed('statement', 'The payload is not JSON.');
  const fault = statement(document, '');
  return fault === null
    ? passed(
        'statement',
        `It is an in-toto statement with the predicate ${(document as { predicateType: string }).predicateType}.`,
      )
    : failed('statement', `${fault.field} must be ${fault.expected}.`);
}
