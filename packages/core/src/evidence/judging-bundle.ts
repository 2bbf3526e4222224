import { TallyError } from '../errors.ts';
import type { TrustBundle } from '../trust/bundle.ts';
import { trustForkOf, verifyTrustFork } from '../trust/fork.ts';
import { revocationsTakenBack } from '../trust/vanished.ts';
import { EvidenceFault } from './fault.ts';
import { EVIDENCE_PATHS } from './parts.ts';

/** Thrown for an evidence bundle whose trust bundle and one that the verifier has prove that their root contradicts itself. */
export class TrustForkFault extends EvidenceFault {
  /** The two trust bundles. */
  readonly bundles: readonly [TrustBundle, TrustBundle];

  constructor(detail: string, bundles: readonly [TrustBundle, TrustBundle]) {
    super(
      'trust_refused',
      `The enclosed trust bundle contradicts one that was given: ${detail}`,
      EVIDENCE_PATHS.trust,
    );
    this.bundles = bundles;
  }
}

/**
 * The trust bundle that decides about the keys of an evidence bundle: the newest one of the same root, because it knows of the latest
 * revocations.
 * @param others checked trust bundles that the verifier has, of any root
 * @throws TrustForkFault if the root signed the enclosed bundle and one of the others against each other
 * @throws EvidenceFault trust_refused if the enclosed one is newer and takes back a revocation, which nothing may, or says that
 * there was none before it
 */
export async function judgingBundle(
  enclosed: TrustBundle,
  others: readonly TrustBundle[],
): Promise<TrustBundle> {
  const same = others.filter(({ root }) => root.public_key === enclosed.root.public_key);
  for (const other of same) {
    const detail = await contradictionOf(enclosed, other);
    if (detail !== null) throw new TrustForkFault(detail, [other, enclosed]);
    const [contradiction] = other.version < enclosed.version ? contradictionsOf(other, enclosed) : [];
    if (contradiction !== undefined) {
      const message = `The enclosed trust bundle contradicts an earlier one that was given: ${contradiction}`;
      throw new EvidenceFault('trust_refused', message, EVIDENCE_PATHS.trust);
    }
  }
  return same.reduce((newest, one) => (one.version > newest.version ? one : newest), enclosed);
}

/** The contradictions between an earlier trust bundle and a newer one of the same root that a fork file can't prove, each as a sentence. */
function contradictionsOf(earlier: TrustBundle, newer: TrustBundle): string[] {
  const isFirst = newer.previous_sha256 === null;
  const first = `Version ${newer.version} says that there was none before it.`;
  return [...(isFirst ? [first] : []), ...revocationsTakenBack(earlier, newer)];
}

/** What two bundles of one root prove against it, in a sentence; null if they prove nothing. */
async function contradictionOf(one: TrustBundle, other: TrustBundle): Promise<string | null> {
  try {
    return (await verifyTrustFork(await trustForkOf(one, other))).detail;
  } catch (error) {
    if (error instanceof TallyError && error.code === 'trust_fork_invalid') return null;
    throw error;
  }
}
