import { constant, type Infer, object } from '../shape.ts';
import { fullBody, fullForm, fullMembers, fullOptions } from './full.ts';
import { type ProfileForm, type ReceiptOf, type ReceiptProfile, reference } from './profile.ts';

const shape = object(
  { receipt_profile: constant('standard'), ...fullMembers, receipt: reference('standard') },
  fullOptions,
);

export const standardForm: ProfileForm<'standard', Infer<typeof shape>> = {
  ...fullForm('standard'),
  maxBytes: 3072,
  shape,
};

/** Profile standard (specification 2.8): commerce. The free envelope is of this profile too. */
export const standard = {
  name: 'standard',
  form: standardForm,
  body: (facts, issuance, signer) => ({
    receipt_profile: 'standard' as const,
    ...fullBody(facts, issuance, signer),
  }),
  maxEmitted: 3072,
  remedy: 'Shorten the texts that you gave (DIDs, purpose, content_type), or choose the pq profile.',
  retentionDays: 365,
  priceUsd: '0.0008',
  schemes: ['exact'],
  bare: false,
  carries: ['purpose', 'settlement_reference', 'seal'],
  reputation: true,
  recommendedBy: ['commerce'],
  when: 'commerce: settlement, seal and reputation are part of the receipt; kept a year',
  limits: 'at most 3,072',
  kept: 'a year',
  page: {
    title: 'Standard profile',
    proves: ['The subject’s hash commits to one payload: anyone who has the payload can compare.'],
    not: [
      'That the named agent asked for it, unless agent_proved is true.',
      'That a payment was settled. A declared settlement is only the caller’s word.',
      'That what it says about its subject is true: for that there is only the signer’s word.',
    ],
  },
} as const satisfies ReceiptProfile;

export type StandardReceipt = ReceiptOf<typeof standard>;
