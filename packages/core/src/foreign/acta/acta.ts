import { fromHex } from '../../encoding/hex.ts';
import { canonicalBytes } from '../../json/canonical.ts';
import type { JsonObject } from '../../json/types.ts';
import { isObject } from '../../receipts/shape.ts';
import { parseTimestamp } from '../../time.ts';
import { type ForeignFamily, ForeignFault, type ForeignReceipt, orFault, requireForm } from '../family.ts';
import { ed25519Key } from '../keys.ts';
import { checkChain } from './chain.ts';
import { type ActaForm, formOf, linkOf, signedHolders } from './forms.ts';

/** Acta decision receipts (draft-farley-acta-signed-receipts), one or a chain of them. */
export const acta: ForeignFamily = {
  name: 'acta',
  recognises: (document) => isObject(document) && formOf(document) !== undefined,
  read(document) {
    const form = isObject(document) ? formOf(document) : undefined;
    if (form === undefined) throw new ForeignFault('It is no Acta receipt.');
    return [receiptOf(form, requireForm(form.shape, document))];
  },
  together: (receipts) => checkChain(documentsOf(receipts)),
  notes: (receipts) => notesOn(documentsOf(receipts)),
};

function documentsOf(receipts: readonly ForeignReceipt[]): readonly JsonObject[] {
  return receipts.map(({ document }) => document).filter(isObject);
}

function receiptOf(form: ActaForm, document: JsonObject): ForeignReceipt {
  const publicKey = form.publicKey(document);
  const carried =
    publicKey === null
      ? null
      : orFault(() => ed25519Key(fromHex(publicKey, 32)), 'Its public key is no acceptable Ed25519 key.');
  const time = textOf(document, 'issued_at') ?? textOf(document, 'timestamp');
  const { signature, kid = isObject(signature) ? signature.kid : null } = document;
  return {
    profile: form.name,
    id: textOf(document, 'receipt_id'),
    issuedAt: time === null ? null : (parseTimestamp(time)?.seconds ?? null),
    signatures: [
      {
        algorithm: 'EdDSA',
        message: canonicalBytes(form.signed(document)),
        signature: fromHex(form.signature(document), 64),
        carried,
        keyId: typeof kid === 'string' ? kid : null,
      },
    ],
    document,
  };
}

/** A signed member that is text. */
function textOf(document: JsonObject, name: string): string | null {
  const value = signedHolders(document).find((holder) => name in holder)?.[name];
  return typeof value === 'string' ? value : null;
}

function notesOn(receipts: readonly JsonObject[]): readonly string[] {
  const linked = receipts.length > 1 && receipts.slice(1).every((one) => linkOf(one) !== null);
  return [
    ...unsignedIn(receipts),
    'It states a decision about a tool call: it does not prove that the tool ran, or what it answered.',
    'A hash of inputs in it is without salt and is not checked here: whoever guesses the inputs can confirm them.',
    linked
      ? 'The chain has no closing receipt: receipts after the last one can be left out without a trace.'
      : 'It proves no order, and receipts before and after it can be left out without a trace.',
    'The time in it is the signer’s own word.',
  ];
}

/** Members that nobody signed, in forms that sign the payload alone. */
function unsignedIn(receipts: readonly JsonObject[]): readonly string[] {
  const names = receipts.flatMap((receipt) => {
    const signed = formOf(receipt)?.signed(receipt);
    return signed === receipt.payload ? Object.keys(receipt) : [];
  });
  const beside = [...new Set(names)].filter((name) => !['payload', 'signature', 'pubkey'].includes(name));
  return beside.length === 0 ? [] : [`Not signed, so anybody may have written it: ${beside.join(', ')}.`];
}
