import { claimsOf, keyNameOf } from '../../cose/headers.ts';
import { type CoseReceipt, parseCoseReceipt } from '../../cose/receipt.ts';
import { ALGORITHMS, HEADER, sign1Message } from '../../cose/sign1.ts';
import { fromBase64 } from '../../encoding/base64.ts';
import { fromBase64url, toBase64url } from '../../encoding/base64url.ts';
import { leafHash } from '../../merkle/hash.ts';
import { rootFromInclusion } from '../../merkle/inclusion.ts';
import { orNull } from '../../or-null.ts';
import { failed, passed } from '../../receipts/family.ts';
import type { Trust } from '../../trust/issuer.ts';
import { COSE_URL } from '../documents.ts';
import { type ForeignFamily, ForeignFault, orFault } from '../family.ts';
import { ed25519Key, type ForeignKey } from '../keys.ts';

/** COSE Receipts of inclusion (RFC 9942) of any log whose tree is that of RFC 9162 with SHA-256. */
export const coseReceipt: ForeignFamily = {
  name: 'cose_receipt',
  recognises: (document) => typeof document === 'string' && document.startsWith(COSE_URL),
  read(document, { entry }) {
    const bytes = typeof document === 'string' ? fromBase64(document.slice(COSE_URL.length)) : null;
    if (bytes === null) throw new ForeignFault('The data of the URL are not base64.');
    const receipt = orFault(() => parseCoseReceipt(bytes));
    const { message, index, size, path } = receipt;
    const { protectedHeader, protectedBytes, signature } = message;
    const algorithm = ALGORITHMS.get(protectedHeader.get(HEADER.alg));
    if (algorithm === undefined)
      throw new ForeignFault('It is signed by another algorithm than EdDSA or ES256.');
    const common = { profile: `index ${index} of ${size}`, id: null, issuedAt: null, document };
    if (entry === undefined) {
      const undecided = 'Without the entry, the signed root can’t be computed: give the entry.';
      return [{ ...common, signatures: [], undecided, checks: [failed('inclusion', undecided)] }];
    }
    const root = orNull(() => rootFromInclusion(index, size, leafHash(entry), path));
    if (root === null)
      throw new ForeignFault('The path has not as many hashes as the place of the leaf needs.');
    return [
      {
        ...common,
        signatures: [
          {
            algorithm,
            message: sign1Message(protectedBytes, root),
            signature,
            carried: null,
            keyId: keyNameOf(protectedHeader.get(HEADER.kid), toBase64url),
            vouched: (trust) => vouchers(receipt, trust),
          },
        ],
        checks: [
          passed('inclusion', `The path leads from the entry, number ${index} of ${size}, to a root.`),
        ],
      },
    ];
  },
  notes: () => [
    'It proves that the log contains the entry, not that what the entry says is true, nor when it was added.',
    'It does not prove that others see the same log: that takes witnesses.',
  ],
};

/** The key that the issuer's record has for such receipts, under the name and the issuer that the receipt gives. */
function vouchers({ message }: CoseReceipt, trust: Trust): readonly ForeignKey[] {
  const { protectedHeader } = message;
  const keyId = keyNameOf(protectedHeader.get(HEADER.kid), toBase64url);
  const { issuer } = claimsOf(protectedHeader.get(HEADER.claims));
  const record = issuer === null ? undefined : trust.issuer(issuer);
  const key = record?.keys.find(
    ({ key_id, purpose, state, revoked }) =>
      key_id === keyId && purpose === 'cose' && state !== 'pending' && revoked === null,
  );
  if (record?.status !== 'verified' || key === undefined) return [];
  return [ed25519Key(fromBase64url(key.public_key, 32))];
}
