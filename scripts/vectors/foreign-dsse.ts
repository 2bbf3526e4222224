import { p256 } from '@noble/curves/nist.js';
import { concatBytes, toBase64url, toHex, toMultibase, utf8 } from '../../packages/core/src/index.ts';
import { type ForeignCase, foreignCases, text } from './foreign.ts';
import { seedOf, signers } from './keys.ts';

const IN_TOTO = 'application/vnd.in-toto+json';
const statement = {
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: 'app.tar', digest: { sha256: toHex(seedOf('acme')) } }],
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: { buildType: 'example' },
};

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** DSSE v1.0, protocol.md: the bytes that are signed. */
const preAuthentication = (type: string, payload: Uint8Array): Uint8Array =>
  concatBytes(utf8(`DSSEv1 ${type.length} ${type} ${payload.length} `), payload);

type Sign = (message: Uint8Array) => Promise<Uint8Array> | Uint8Array;

async function envelope(signs: readonly Sign[], payload: unknown = statement, payloadType: string = IN_TOTO) {
  const bytes = utf8(JSON.stringify(payload));
  const signatures = [];
  for (const sign of signs) {
    signatures.push({ keyid: 'k', sig: base64(await sign(preAuthentication(payloadType, bytes))) });
  }
  return { payload: base64(bytes), payloadType, signatures };
}

const agent: Sign = (message) => signers.agent.sign(message);
const stranger: Sign = (message) => signers.stranger.sign(message);
const secret = seedOf('operator');
const point = p256.getPublicKey(secret, false);
const p256Key = `did:key:${toMultibase(concatBytes(Uint8Array.of(0x80, 0x24), p256.getPublicKey(secret)))}`;

/** The forms in which the P-256 key may be given. */
const jwk = JSON.stringify({
  kty: 'EC',
  crv: 'P-256',
  x: toBase64url(point.slice(1, 33)),
  y: toBase64url(point.slice(33)),
});
const spki = Buffer.concat([
  Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex'),
  point,
]);
const pem = `-----BEGIN PUBLIC KEY-----\n${base64(spki)}\n-----END PUBLIC KEY-----\n`;

export async function foreignDsseCases(): Promise<ForeignCase[]> {
  const dsse = foreignCases('dsse', signers.agent.keyId);
  const keys = [signers.agent.keyId];
  const good = await envelope([agent]);
  const urlSafe = {
    ...good,
    payload: good.payload.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
  };
  const other = base64(utf8(JSON.stringify({ ...statement, subject: [] })));
  const ecdsa = (format: 'der' | 'compact'): Promise<object> =>
    envelope([(message) => p256.sign(message, secret, { format })]);
  const ofP256 = { signers: [p256Key] };
  return [
    dsse(
      'in-toto statement',
      'Ed25519; the key is given, because an envelope carries none.',
      text(good),
      [],
      { keys },
    ),
    dsse('no key', 'Nothing can be checked.', text(good), ['key', 'signature']),
    dsse('other key', 'The key given did not sign it.', text(good), ['signature'], {
      keys: [signers.stranger.keyId],
    }),
    dsse('payload changed', 'Another statement.', text({ ...good, payload: other }), ['signature'], { keys }),
    dsse(
      'type changed',
      'The type is signed too.',
      text({ ...good, payloadType: 'text/plain' }),
      ['signature'],
      { keys },
    ),
    dsse('two signatures', 'One by a known key is enough.', text(await envelope([stranger, agent])), [], {
      keys,
    }),
    dsse('URL-safe base64', 'DSSE allows both alphabets.', text(urlSafe), [], { keys }),
    dsse(
      'another payload',
      'Signed, but not read.',
      text(await envelope([agent], { a: 1 }, 'application/json')),
      [],
      { keys },
    ),
    dsse(
      'statement of version 0.1',
      'Only Statement/v1 is read.',
      text(await envelope([agent], { ...statement, _type: 'https://in-toto.io/Statement/v0.1' })),
      ['statement'],
      { keys },
    ),
    dsse(
      'statement without a subject',
      'A statement is about something.',
      text(await envelope([agent], { ...statement, subject: 'x' })),
      ['statement'],
      { keys },
    ),
    dsse('ECDSA as DER, PEM key', 'As signers of DSSE write it.', text(await ecdsa('der')), [], {
      keys: [pem],
      ...ofP256,
    }),
    dsse('ECDSA as r || s, JWK', 'As JWS writes it.', text(await ecdsa('compact')), [], {
      keys: [jwk],
      ...ofP256,
    }),
    dsse('ECDSA, JWK Set', 'Keys of other types are passed over.', text(await ecdsa('der')), [], {
      keys: [`{"keys":[{"kty":"RSA"},${jwk}]}`],
      ...ofP256,
    }),
    dsse('ECDSA, another key', 'The key given did not sign it.', text(await ecdsa('der')), ['signature'], {
      keys: [
        `did:key:${toMultibase(concatBytes(Uint8Array.of(0x80, 0x24), p256.getPublicKey(seedOf('acme'))))}`,
      ],
    }),
    dsse('no signatures', 'Nobody signed it.', text({ ...good, signatures: [] }), ['format'], { keys }),
    dsse('payload not base64', 'The form is wrong.', text({ ...good, payload: '%' }), ['format'], { keys }),
    dsse(
      '65 signatures',
      'At most 64 are tried.',
      text({ ...good, signatures: Array(65).fill(good.signatures[0]) }),
      ['format'],
      { keys },
    ),
  ];
}
