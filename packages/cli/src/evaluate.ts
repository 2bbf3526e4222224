import {
  type AnchorTransaction,
  bothTrusts,
  type EvidenceSources,
  type IssuerRecord,
  type JsonObject,
  type JsonValue,
  type SettlementTransaction,
  type Trust,
  trustOf,
  type Verification,
  verify,
  type WitnessPolicy,
} from '@tallystick/core';
import type { TrustSource } from './trust-sources.ts';

/** A verdict by all available bundles. */
export interface Evaluation {
  readonly verdict: Verification;
  /** The service or file whose bundle says that the issuer is verified; null if there is none. */
  readonly vouchedBy: string | null;
}

/** What is known besides the receipt and the trust. */
export interface Circumstances {
  /** Time to judge at, in Unix milliseconds. */
  readonly now: number;
  /** An issuer that counts as registered if a bundle does not list it. */
  readonly record?: IssuerRecord | undefined;
  /** Returns the evidence leaves from the start at each call. */
  readonly evidence?: (() => Iterable<JsonValue>) | undefined;
  /** The anchor and what the chain says of it, as the options of core's `verify`. */
  readonly anchor?: JsonValue | undefined;
  readonly transaction?: AnchorTransaction | null | undefined;
  readonly settlement?: SettlementTransaction | null | undefined;
  readonly witnessPolicy?: WitnessPolicy | undefined;
}

/**
 * Judges a receipt by several services' bundles. A handle is a name within one service: two services may both
 * have a `did:svc:local`. So the receipt is judged with each bundle first in turn, and if the verdicts differ it
 * is not trusted until the user says which service counts.
 */
export async function evaluate(
  receipt: JsonValue,
  sources: readonly TrustSource[],
  { evidence, record, ...known }: Circumstances,
): Promise<Evaluation> {
  const records = record === undefined ? [] : [record];
  const own = sources.map(({ bundle }) => trustOf([...bundle.issuers, ...records], [bundle]));
  const emptyTrust = trustOf(records);
  const leads = own.length === 0 ? [emptyTrust] : own.map((lead) => withLead(lead, own));
  const verdicts = await Promise.all(leads.map((trust) => verify(receipt, { ...known, trust })));
  const differ = new Set(verdicts.map(essence)).size > 1;
  const chosen = Math.max(
    0,
    verdicts.findIndex(({ valid }) => valid),
  );
  const verdict = await verify(receipt, {
    ...known,
    trust: leads[chosen] ?? emptyTrust,
    evidence: evidence?.(),
    evidenceSources: leadingTrust(sources, known.now).evidenceSources,
  });
  if (differ) return { verdict: disputed(verdict, sources, own, verdicts), vouchedBy: null };
  const { did, trusted } = verdict.issuer;
  const voucher = sources[own.findIndex((trust) => did !== null && trust.issuer(did)?.status === 'verified')];
  return { verdict, vouchedBy: trusted ? (voucher?.from ?? null) : null };
}

/**
 * The trust by which receipts that are given as evidence are judged. If the bundles disagree about a receipt, the first
 * order of them in which it is valid counts. `now` is in Unix milliseconds.
 */
export function leadingTrust(
  sources: readonly TrustSource[],
  now: number,
): { readonly trust: Trust; readonly evidenceSources: EvidenceSources } {
  const leads = leadsOf(sources);
  const [first = trustOf([])] = leads;
  const trustFor = async (receipt: JsonObject): Promise<Trust> => {
    if (leads.length < 2) return first;
    const verdicts = await Promise.all(leads.map((trust) => verify(receipt, { now, trust })));
    return leads[verdicts.findIndex(({ valid }) => valid)] ?? first;
  };
  return { trust: first, evidenceSources: { trustFor } };
}

function leadsOf(sources: readonly TrustSource[]): Trust[] {
  const own = sources.map(({ bundle }) => trustOf(bundle.issuers, [bundle]));
  return own.map((lead) => withLead(lead, own));
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
    'Choose one with --trust.';
  return {
    ...verdict,
    issuer: { ...verdict.issuer, trusted: false },
    checks: [...verdict.checks, { name: 'trust', ok: null, detail }],
  };
}
