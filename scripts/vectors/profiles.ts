import { DEFAULT_PROFILE, profiles, type ReceiptProfile } from '../../packages/core/src/index.ts';

const all: readonly ReceiptProfile[] = profiles;

/** The text of spec/profiles.json: the facts of the profiles for readers that cannot import core. */
export function profilesText(): string {
  const facts = all.map((profile) => ({
    name: profile.name,
    max_bytes: profile.form.maxBytes,
    retention_days: profile.retentionDays,
    price_usd: profile.priceUsd,
    schemes: profile.schemes,
    carries: profile.carries,
    unsigned_members: !profile.bare,
  }));
  return `${JSON.stringify({ default: DEFAULT_PROFILE, profiles: facts }, null, 2)}\n`;
}
