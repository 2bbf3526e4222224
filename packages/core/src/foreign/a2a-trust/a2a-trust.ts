import { fromHex, toHex } from '../../encoding/hex.ts';
import { sha256 } from '../../hash.ts';
import { canonicalBytes } from '../../json/canonical.ts';
import type { JsonObject, JsonValue } from '../../json/types.ts';
import { type Check, check, failed, passed } from '../../receipts/family.ts';
import { constant, hex64, isObject, nonEmptyText, object, pattern } from '../../receipts/shape.ts';
import { parseTimestamp } from '../../time.ts';
import { type ForeignFamily, type ForeignReceipt, orFault, requireForm } from '../family.ts';
import { ed25519Key } from '../keys.ts';

const signed = object({
  signature: object({
    alg: constant('EdDSA'),
    kid: nonEmptyText,
    pubkey: hex64,
    sig: pattern(/^[0-9a-f]{128}$/, '128 lower-case hex characters'),
  }),
});

const header = object({ trust_header_version: constant('0.1'), subject_agent: nonEmptyText });

/**
 * The value of the header `x-agent-trust`, version 0.1, as agent-governance-testvectors defines it for A2A: delegations,
 * attestations and the signed refusal of an agent whose delegation was revoked.
 */
export const a2aTrust: ForeignFamily = {
  name: 'a2a_trust',
  recognises: (document) => isObject(document) && 'trust_header_version' in document,
  read(document) {
    const { delegation_chain, delegation_chain_root, attestations, agent_card, deny_receipt } = requireForm(
      header,
      document,
    );
    const trust = isObject(agent_card) ? agent_card.trust : null;
    const attested = [...listOf(attestations), ...listOf(isObject(trust) ? trust.signals : [])];
    const checks = [
      subjectCheck(document as JsonObject, attested),
      rootCheck(delegation_chain ?? [], [
        delegation_chain_root,
        ...attested.flatMap((one) => payloadOf(one).delegation_chain_root ?? []),
      ]),
    ];
    return [
      ...listOf(delegation_chain).map((link) => receiptOf('delegation', link)),
      ...attested.map((one) => receiptOf('attestation', one)),
      ...(deny_receipt === undefined ? [] : [receiptOf('refusal', deny_receipt)]),
    ].map((receipt) => ({ ...receipt, checks }));
  },
  contradictions: (receipts) => revocationCheck(receipts),
  notes: () => [
    'The parts are signed, not the header: its card, and which parts it has, are whatever its sender chose.',
    'Each part is the word of who signed it: whether an attestation is deserved is not checked.',
    'It proves no order of the attestations, and any of them can be left out without a trace.',
    'Whether a delegation covers the call at hand, and whether it has expired by now, is for the one who is called to check.',
  ],
};

const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

/** A delegation signs its own members; an attestation and a refusal sign their payload. @throws ForeignFault */
function receiptOf(profile: 'delegation' | 'attestation' | 'refusal', value: JsonValue): ForeignReceipt {
  const document = requireForm(signed, isObject(value) ? value : '');
  const { signature, ...members } = document;
  const { kid, pubkey, sig } = signature;
  const content = profile === 'delegation' ? members : requireForm(object({}), members.payload as JsonObject);
  const at = content.issued_at ?? content.attempted_at;
  return {
    profile,
    id: null,
    issuedAt: typeof at === 'string' ? (parseTimestamp(at)?.seconds ?? null) : null,
    signatures: [
      {
        algorithm: 'EdDSA',
        message: canonicalBytes(content),
        signature: fromHex(sig, 64),
        carried: orFault(() => ed25519Key(fromHex(pubkey, 32)), 'A public key is no acceptable Ed25519 key.'),
        keyId: kid,
      },
    ],
    document,
  };
}

function payloadOf(attestation: JsonValue): JsonObject {
  const payload = isObject(attestation) ? attestation.payload : null;
  return isObject(payload) ? payload : {};
}

/** Nobody signs the header as a whole, so that an attestation about one agent could stand in the header of another. */
function subjectCheck({ subject_agent: subject }: JsonObject, attestations: readonly JsonValue[]): Check {
  return check(
    'subject',
    attestations.every((one) => payloadOf(one).agent_id === subject),
    'Every attestation is about the agent that the header names.',
    'An attestation is about another agent than the one that the header names.',
  );
}

/** The delegations are signed one by one; only the root that the header and its attestations name holds them together. */
function rootCheck(chain: JsonValue, named: readonly (JsonValue | undefined)[]): Check {
  const root = `sha256:${toHex(sha256(canonicalBytes(chain)))}`;
  return check(
    'delegation_root',
    named.every((one) => one === root),
    'Every root in it is that of these delegations.',
    'A root in it is another than that of these delegations, or of another algorithm than SHA-256.',
  );
}

function revocationCheck(receipts: readonly ForeignReceipt[]): readonly Check[] {
  const revoked = receipts.some(
    ({ profile, document }) =>
      profile === 'delegation' && isObject(document) && document.status === 'revoked',
  );
  return [
    revoked
      ? failed('delegation', 'A delegation in it was revoked: the agent may not act on it.')
      : passed('delegation', 'No delegation in it says that it was revoked.'),
  ];
}
