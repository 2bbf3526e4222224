import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  createJWS,
  type JWSSigner,
  signOfferEIP712,
  signReceiptEIP712,
} from '@x402/extensions/offer-receipt';
import { privateKeyToAccount } from 'viem/accounts';
import { concatBytes, toBase64url, toHex, toMultibase } from '../../packages/core/src/index.ts';
import { ISSUED_SECONDS } from './cases.ts';
import { type ForeignCase, foreignCases, text } from './foreign.ts';
import { seedOf, signers } from './keys.ts';

/** Everything here is signed by the functions of x402's own package. */
const account = privateKeyToAccount(`0x${toHex(seedOf('acme'))}`);
const payee = account.address.toLowerCase();
const OTHER = '0x000000000000000000000000000000000000dead';

const offer = {
  version: 1,
  resourceUrl: 'https://api.example.com/answer',
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: account.address,
  amount: '10000',
  validUntil: ISSUED_SECONDS + 7200,
};
const receipt = {
  version: 1,
  network: 'eip155:8453',
  resourceUrl: offer.resourceUrl,
  payer: OTHER,
  issuedAt: ISSUED_SECONDS,
  transaction: '',
};

const agent: JWSSigner = {
  kid: `${signers.agent.keyId}#${signers.agent.keyId.slice(8)}`,
  format: 'jws',
  algorithm: 'EdDSA',
  sign: async (bytes) => toBase64url(await signers.agent.sign(bytes)),
};

/** A signer with a curve of ECDSA, whose did:key has this multicodec prefix. */
function ecdsa(
  algorithm: 'ES256' | 'ES256K',
  prefix: readonly number[],
  format: 'compact' | 'der' = 'compact',
): JWSSigner {
  const curve = algorithm === 'ES256' ? p256 : secp256k1;
  const secret = seedOf('operator');
  return {
    kid: `did:key:${toMultibase(concatBytes(Uint8Array.from(prefix), curve.getPublicKey(secret)))}`,
    format: 'jws',
    algorithm,
    sign: async (bytes) => toBase64url(curve.sign(bytes, secret, { format })),
  };
}

export async function foreignX402Cases(): Promise<ForeignCase[]> {
  const x402 = foreignCases('x402', signers.agent.keyId);
  const signed = await createJWS(receipt, agent);
  const jws = { format: 'jws', signature: signed };
  const offered = { format: 'jws', acceptIndex: 0, signature: await createJWS(offer, agent) };
  const [header, , signature] = signed.split('.');
  const forged = [
    header,
    toBase64url(Buffer.from(JSON.stringify({ ...receipt, payer: payee }))),
    signature,
  ].join('.');
  const es256 = ecdsa('ES256', [0x80, 0x24]);
  const es256k = ecdsa('ES256K', [0xe7, 0x01]);
  const web = await createJWS(receipt, { ...agent, kid: 'did:web:api.example.com#key-1' });
  const crit = [
    toBase64url(Buffer.from('{"alg":"EdDSA","crit":["b64"]}')),
    ...signed.split('.').slice(1),
  ].join('.');
  const jwk = JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: toBase64url(signers.agent.publicKey) });
  const ofJwk = await createJWS(receipt, { ...agent, kid: `did:jwk:${toBase64url(Buffer.from(jwk))}#0` });
  const none = [toBase64url(Buffer.from('{"alg":"none"}')), ...signed.split('.').slice(1)].join('.');
  return [
    x402('receipt, JWS', 'Signed by a did:key with Ed25519.', text(jws), []),
    x402(
      'receipt, JWS, in the extension',
      'As an answer carries it.',
      text({ extensions: { 'offer-receipt': { info: { receipt: jws } } } }),
      [],
    ),
    x402('receipt, JWS, changed', 'Another payer.', text({ format: 'jws', signature: forged }), [
      'signature',
    ]),
    x402('receipt, JWS, key given', 'The key in its kid is pinned.', text(jws), [], {
      keys: [signers.agent.keyId],
    }),
    x402('receipt, JWS, other key given', 'Signed by none of the keys given.', text(jws), ['pinned_key'], {
      keys: [OTHER],
    }),
    x402(
      'receipt, JWS, ES256',
      'P-256, by a did:key.',
      text({ format: 'jws', signature: await createJWS(receipt, es256) }),
      [],
      { signers: [es256.kid] },
    ),
    x402(
      'receipt, JWS, ES256K',
      'secp256k1, by a did:key.',
      text({ format: 'jws', signature: await createJWS(receipt, es256k) }),
      [],
      { signers: [es256k.kid], keys: [es256k.kid] },
    ),
    x402(
      'receipt, JWS, ES256 as DER',
      'A JWS has r || s (RFC 7518, section 3.4).',
      text({ format: 'jws', signature: await createJWS(receipt, ecdsa('ES256', [0x80, 0x24], 'der')) }),
      ['signature'],
    ),
    x402('receipt, JWS, did:jwk', 'The key is in its kid.', text({ format: 'jws', signature: ofJwk }), []),
    x402(
      'receipt, JWS, of the end of time',
      'Its time is in the future.',
      text({
        format: 'jws',
        signature: await createJWS({ ...receipt, issuedAt: Number.MAX_SAFE_INTEGER }, agent),
      }),
      ['issued_at'],
    ),
    x402(
      'receipt, JWS, did:web',
      'Nothing is fetched, so the key must be given.',
      text({ format: 'jws', signature: web }),
      ['key', 'signature'],
    ),
    x402(
      'receipt, JWS, did:web, key given',
      'The key is given.',
      text({ format: 'jws', signature: web }),
      [],
      { keys: [signers.agent.keyId] },
    ),
    x402(
      'receipt, JWS, without a signature',
      'The algorithm none is refused.',
      text({ format: 'jws', signature: none }),
      ['format'],
    ),
    x402('receipt, JWS, critical extension', 'None is supported.', text({ format: 'jws', signature: crit }), [
      'format',
    ]),
    x402('receipt, JWS, of two parts', 'No JWS.', text({ format: 'jws', signature: 'a.b' }), ['format']),
    x402(
      'receipt, JWS, no payer',
      'A member is missing.',
      text({ format: 'jws', signature: await createJWS({ ...receipt, payer: undefined }, agent) }),
      ['format'],
    ),
    x402(
      'offers, JWS',
      'All offers of an answer with the status 402.',
      text({
        x402Version: 2,
        accepts: [],
        extensions: { 'offer-receipt': { info: { offers: [offered, offered] } } },
      }),
      [],
      { count: 2 },
    ),
    x402(
      'offer that has ended',
      'It is still proof of what was offered.',
      text({
        format: 'jws',
        signature: await createJWS({ ...offer, validUntil: ISSUED_SECONDS - 1 }, agent),
      }),
      [],
    ),
    ...(await eip712Cases()),
  ];
}

async function eip712Cases(): Promise<ForeignCase[]> {
  const x402 = foreignCases('x402', payee);
  const signTypedData = account.signTypedData.bind(account);
  const paid = {
    format: 'eip712',
    payload: receipt,
    signature: await signReceiptEIP712(receipt, signTypedData),
  };
  const offered = {
    format: 'eip712',
    acceptIndex: 0,
    payload: offer,
    signature: await signOfferEIP712(offer, signTypedData),
  };
  const elsewhere = { ...offer, payTo: OTHER };
  const other = {
    ...offered,
    payload: elsewhere,
    signature: await signOfferEIP712(elsewhere, signTypedData),
  };
  const changed = { ...paid, payload: { ...receipt, payer: payee } };
  return [
    x402('offer, EIP-712', 'The account that is to be paid signed it.', text(offered), []),
    x402(
      'offer, EIP-712, changed',
      'Another amount gives another account.',
      text({ ...offered, payload: { ...offer, amount: '1' } }),
      ['key', 'signature'],
    ),
    x402(
      'offer, EIP-712, of another account',
      'Only a given address can tell whether it is intact.',
      text(other),
      ['key', 'signature'],
    ),
    x402('offer, EIP-712, of another account, given', 'The address is given.', text(other), [], {
      keys: [account.address],
    }),
    x402(
      'receipt, EIP-712',
      'Any change would give another account, so nothing shows that it is intact.',
      text(paid),
      ['key', 'signature'],
    ),
    x402('receipt, EIP-712, address given', 'The address is given.', text(paid), [], {
      keys: [account.address],
    }),
    x402('receipt, EIP-712, changed', 'Another payer.', text(changed), ['signature'], {
      keys: [account.address],
    }),
    x402(
      'receipt, EIP-712, no transaction',
      'The hash has a place for it.',
      text({ ...paid, payload: { ...receipt, transaction: undefined } }),
      ['format'],
      { keys: [account.address] },
    ),
    x402(
      'receipt, EIP-712, signature too short',
      '65 bytes are needed.',
      text({ ...paid, signature: '0x00' }),
      ['format'],
      { keys: [account.address] },
    ),
  ];
}
