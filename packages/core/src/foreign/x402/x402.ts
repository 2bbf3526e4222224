import { fromHex } from '../../encoding/hex.ts';
import { recoverAddress } from '../../ethereum/recover.ts';
import type { JsonObject, JsonValue } from '../../json/types.ts';
import { type Check, passed, unchecked } from '../../receipts/family.ts';
import { integer, isObject, nonEmptyText, object, oneOf, pattern, text } from '../../receipts/shape.ts';
import { formatTimestamp } from '../../time.ts';
import {
  type ForeignFacts,
  type ForeignFamily,
  ForeignFault,
  type ForeignReceipt,
  type ForeignSignature,
  requireForm,
} from '../family.ts';
import { readJws } from '../jws.ts';
import { type StructType, typedDataHash } from './eip712.ts';

/** The types of the extension `offer-receipt` of x402, in both of its signature forms. */
const TYPES = {
  offer: {
    domain: 'x402 offer',
    struct: {
      name: 'Offer',
      members: {
        version: 'uint256',
        resourceUrl: 'string',
        scheme: 'string',
        network: 'string',
        asset: 'string',
        payTo: 'string',
        amount: 'string',
        validUntil: 'uint256',
      },
    },
    optional: ['validUntil'],
  },
  receipt: {
    domain: 'x402 receipt',
    struct: {
      name: 'Receipt',
      members: {
        version: 'uint256',
        network: 'string',
        resourceUrl: 'string',
        payer: 'string',
        issuedAt: 'uint256',
        transaction: 'string',
      },
    },
    optional: ['transaction'],
  },
} as const satisfies Record<string, { domain: string; struct: StructType; optional: readonly string[] }>;

type Kind = keyof typeof TYPES;

/** Signed offers and receipts of x402, by themselves, in the extension, or in a whole answer with the status 402. */
export const x402: ForeignFamily = {
  name: 'x402',
  recognises: (document) => isObject(document) && signedIn(document).length > 0,
  read: (document, facts) =>
    (isObject(document) ? signedIn(document) : []).map((one) => receiptOf(one, facts)),
  notes: () => [
    'It does not cover what was asked or delivered: only the address of the resource, the terms and, in a receipt, who paid.',
    'It proves no order, and offers and receipts beside it can be left out without a trace.',
    'A receipt is the seller’s word that it was paid: only the chain shows the payment itself.',
    'The place of an offer in the list (acceptIndex) is not signed.',
  ],
};

const signedObject = object({ format: oneOf('jws', 'eip712'), signature: nonEmptyText });

/** The signed objects in a document, which may be the extension's data or an answer that has them. */
function signedIn(document: JsonValue | undefined): readonly JsonObject[] {
  if (!isObject(document)) return [];
  if (signedObject(document, '') === null) return [document];
  const { info, offers, receipt, extensions, 'offer-receipt': extension } = document;
  const inner = [...(Array.isArray(offers) ? offers : []), receipt].filter(
    (one) => one !== undefined && signedObject(one, '') === null,
  );
  return [...inner.filter(isObject), ...[info, extension, extensions].flatMap(signedIn)];
}

function receiptOf(document: JsonObject, facts: ForeignFacts): ForeignReceipt {
  const { format, signature } = document as JsonObject & { format: 'jws' | 'eip712'; signature: string };
  const jws = format === 'jws' ? readJws(signature) : null;
  const payload = jws === null ? document.payload : jws.payload;
  if (!isObject(payload)) throw new ForeignFault('It has no payload.');
  const kind: Kind = 'issuedAt' in payload ? 'receipt' : 'offer';
  requireForm(shapeOf(kind, jws !== null), payload);
  const { issuedAt, validUntil } = payload;
  return {
    profile: `${kind}/${format}`,
    id: null,
    issuedAt: typeof issuedAt === 'number' ? issuedAt : null,
    signatures: [jws?.signature ?? eip712Signature(kind, payload, signature)],
    checks: kind === 'offer' ? [endCheck(Number(validUntil ?? 0), facts.now)] : [],
    document,
  };
}

/** What a payload must have: with EIP-712, whose hash has a place for each member, nothing is optional. */
function shapeOf(kind: Kind, inJws: boolean) {
  const { struct, optional } = TYPES[kind];
  const rule = (type: 'string' | 'uint256') => (type === 'string' ? text : integer(0));
  const rules = Object.entries(struct.members).map(([name, type]) => [name, rule(type)] as const);
  const mayMiss = (name: string): boolean => inJws && optional.some((one) => one === name);
  return object(Object.fromEntries(rules.filter(([name]) => !mayMiss(name))), {
    optional: Object.fromEntries(rules.filter(([name]) => mayMiss(name))),
  });
}

function endCheck(validUntil: number, now: number): Check {
  if (validUntil === 0) return unchecked('valid_until', 'The offer does not say when it ends.');
  const end = formatTimestamp(validUntil * 1000);
  return validUntil * 1000 >= now
    ? passed('valid_until', `The offer holds until ${end}.`)
    : unchecked('valid_until', `The offer ended at ${end}; it is still proof of what was offered.`);
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

const signatureText = pattern(/^0x[0-9a-fA-F]{130}$/, '0x and 130 hex characters');

/**
 * Any change of what is signed gives another account, so that the signature says nothing until somebody names the account.
 * An offer does, if the account that is to be paid has signed it.
 */
function eip712Signature(kind: Kind, payload: JsonObject, signature: string): ForeignSignature {
  if (signatureText(signature, 'signature') !== null)
    throw new ForeignFault('signature must be 65 bytes in hex.');
  const { domain, struct } = TYPES[kind];
  const message = typedDataHash(domain, struct, payload);
  const bytes = fromHex(signature.slice(2).toLowerCase(), 65);
  const address = recoverAddress(message, bytes);
  const isPayee = kind === 'offer' && address !== null && textOf(payload.payTo).toLowerCase() === address;
  return {
    algorithm: 'EIP-712',
    message,
    signature: bytes,
    carried: isPayee ? { kind: 'account', address } : null,
    keyId: null,
  };
}
