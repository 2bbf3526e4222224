import { fullBody, fullForm, fullMembers, fullOptions } from '../../core/src/receipts/profiles/full.ts';
import {
  type ProfileForm,
  type ReceiptProfile,
  reference,
} from '../../core/src/receipts/profiles/profile.ts';
import { constant, type Infer, integer, object } from '../../core/src/receipts/shape.ts';

const shape = object(
  {
    receipt_profile: constant('brief'),
    ...fullMembers,
    priority: integer(1, 9),
    receipt: reference('brief'),
  },
  fullOptions,
);

export const briefForm: ProfileForm<'brief', Infer<typeof shape>> = {
  ...fullForm('brief'),
  maxBytes: 1000,
  shape,
};

/** A profile that the service does not have, written as one that it has. */
export const brief = {
  name: 'brief',
  form: briefForm,
  body: (facts, issuance, signer) => ({
    receipt_profile: 'brief' as const,
    ...fullBody(facts, issuance, signer),
    priority: 5,
  }),
  maxEmitted: 1000,
  remedy: 'Shorten the purpose.',
  retentionDays: 7,
  priceUsd: '0.0002',
  schemes: ['exact'],
  bare: false,
  carries: ['purpose', 'settlement_reference'],
  reputation: true,
  recommendedBy: [],
  when: 'trying things out; kept a week',
  limits: 'takes at most 1,000 bytes',
  kept: 'a week',
  page: { title: 'Brief profile', proves: ['That it is brief.'], not: ['That it is long.'] },
} as const satisfies ReceiptProfile;
