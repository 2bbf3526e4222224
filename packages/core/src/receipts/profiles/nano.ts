import { toBase64url } from '../../encoding/base64url.ts';
import { SCHEMA_VERSION } from '../family.ts';
import {
  boolean,
  bytes32,
  constant,
  did,
  type Infer,
  integer,
  keyId,
  nonEmptyText,
  object,
} from '../shape.ts';
import { type ProfileForm, type ReceiptOf, type ReceiptProfile, reference } from './profile.ts';

const shape = object({
  profile: constant('nano'),
  v: constant(SCHEMA_VERSION),
  /** The agent. */
  a: did,
  /** SHA-256 of the subject, base64url. */
  h: bytes32,
  /** Media type of the subject. */
  t: nonEmptyText,
  ok: boolean,
  /** Unix seconds. */
  ts: integer(1_000_000_000),
  /** Id of the key that signed. */
  k: keyId,
  receipt: reference('nano'),
});

type NanoBody = Omit<Infer<typeof shape>, 'receipt'>;

export const nanoForm: ProfileForm<'nano', Infer<typeof shape>> = {
  name: 'nano',
  maxBytes: 600,
  recognises: ({ profile }) => profile === 'nano',
  shape,
  signer: ({ k, ts }) => ({
    keyId: k,
    issuerPublicKey: null,
    issuerDid: null,
    issuerVerified: null,
    issuedAt: ts,
  }),
};

/** Profile nano (specification 2.8): for attestations in high volume, as small as possible. */
export const nano = {
  name: 'nano',
  form: nanoForm,
  body: ({ agentDid, subject }, { issuedAt }, signer): NanoBody => ({
    profile: 'nano',
    v: SCHEMA_VERSION,
    a: agentDid,
    h: toBase64url(subject.sha256),
    t: subject.contentType,
    ok: subject.ok,
    ts: Math.floor(issuedAt / 1000),
    k: signer.keyId,
  }),
  maxEmitted: 600,
  remedy: 'Shorten agent_did or content_type, or choose the standard profile.',
  retentionDays: 30,
  priceUsd: '0.0001',
  // A receipt costs less than a transaction would, so it is paid for by vouchers.
  schemes: ['batch-settlement'],
  bare: true,
  carries: [],
  reputation: false,
  recommendedBy: ['verify', 'sub_cent'],
  when: 'high volume, sub-cent amounts, agent attestation; kept 30 days',
  limits: 'takes at most 600 bytes and has no purpose, settlement or seal',
  kept: '30 days',
  page: {
    title: 'Nano profile',
    proves: ['The hash h commits to one payload: anyone who has the payload can compare.'],
    not: [
      'That the named agent asked for it: a nano receipt does not record who proved what.',
      'That the outcome was good. “ok” is the signer’s word.',
    ],
    glosses: {
      a: 'agent',
      h: 'SHA-256 of the payload, base64url',
      t: 'content type of the payload',
      ok: 'outcome',
      k: 'key that signed',
      ts: 'issued at, Unix seconds',
      v: 'schema version',
    },
  },
} as const satisfies ReceiptProfile;

/** A receipt of profile nano: `a` is the agent, `h` the subject's SHA-256 in base64url, `t` its media type. */
export type NanoReceipt = ReceiptOf<typeof nano>;
