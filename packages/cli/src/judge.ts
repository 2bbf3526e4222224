import { bothTrusts, type JsonValue, type Trust, trustOf, type Verification, verify } from '@tallystick/core';
import type { TrustSource } from './trust-sources.ts';

/** A verdict by all the bundles at hand. */
export interface Judgement {
  readonly verdict: Verification;
  /** The service or file whose bundle says that the issuer is verified; null where none does. */
  readonly vouchedBy: string | null;
}

/**
 * Judges a receipt by several services' bundles. A handle is a name within one service: two services may both
 * have a `did:svc:local`. So the receipt is judged with each bundle in the lead, and where the verdicts differ it
 * is not trusted, until the user says which service counts.
 * @param options.now Unix milliseconds
 * @param options.evidence gives the evidence leaves from the start at each call
 */
export async function judge(
  receipt: JsonValue,
  sources: readonly TrustSource[],
  options: { readonly now: number; readonly evidence: (() => Iterable<JsonValue>) | undefined },
): Promise<Judgement> {
  const own = sources.map(({ bundle }) => trustOf(bundle.issuers));
  const nobody = trustOf([]);
  const leads = own.length === 0 ? [nobody] : own.map((lead) => withLead(lead, own));
  const verdicts = await Promise.all(leads.map((trust) => verify(receipt, { now: options.now, trust })));
  const differ = new Set(verdicts.map(essence)).size > 1;
  const chosen = Math.max(
    0,
    verdicts.findIndex(({ valid }) => valid),
  );
  const verdict = await verify(receipt, {
    now: options.now,
    trust: leads[chosen] ?? nobody,
    evidence: options.evidence?.(),
  });
  if (differ) return { verdict: disputed(verdict, sources, own, verdicts), vouchedBy: null };
  const { did, trusted } = verdict.issuer;
  const voucher = sources[own.findIndex((trust) => did !== null && trust.issuer(did)?.status === 'verified')];
  return { verdict, vouchedBy: trusted ? (voucher?.from ?? null) : null };
}

function withLead(lead: Trust, all: readonly Trust[]): Trust {
  return all.filter((trust) => trust !== lead).reduce(bothTrusts, lead);
}

function essence({ valid, issuer }: Verification): string {
  return JSON.stringify([valid, issuer.trusted, issuer.did, issuer.status, issuer.key_state]);
}

function disputed(
  verdict: Verification,
  sources: readonly TrustSource[],
  own: readonly Trust[],
  verdicts: readonly Verification[],
): Verification {
  const dids = new Set(verdicts.map(({ issuer }) => issuer.did).filter((did) => did !== null));
  const claimants = sources.filter((_, index) =>
    [...dids].some((did) => own[index]?.issuer(did) !== undefined),
  );
  const detail =
    `The bundles disagree on ${[...dids].join(' and ')}: ${claimants.map(({ from }) => from).join(', ')}. ` +
    'Say which one counts with --trust.';
  return {
    ...verdict,
    issuer: { ...verdict.issuer, trusted: false },
    checks: [...verdict.checks, { name: 'trust', ok: null, detail }],
  };
}
