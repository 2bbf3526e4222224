import { TallyError } from '../errors.ts';
import { copyJson } from '../json/copy.ts';
import { constant, isObject, listOf, object, type Rule, requireShape } from '../receipts/shape.ts';
import { bundleHash, checkTrustBundle, type TrustBundle } from './bundle.ts';

const TYPE = 'svc-trust-fork-v1';

const anObject: Rule = (value, path) => (isObject(value) ? null : { field: path, expected: 'an object' });
const shape = object({ type: constant(TYPE), bundles: listOf(anObject, 'two bundles', 2) }, { closed: true });

/** A proof that a root signed two lists of whom to trust that contradict each other, as JSON. Who has it needs nothing else. */
export interface TrustForkFile {
  readonly type: typeof TYPE;
  readonly bundles: readonly [TrustBundle, TrustBundle];
}

/** What a fork file of trust proves. */
export interface ProvenTrustFork {
  /** `sha256:<hex>` of the root's public key. */
  readonly root: string;
  /** `version`: two bundles of one version. `link`: the second one names another bundle before it than the first. */
  readonly kind: 'version' | 'link';
  readonly bundles: readonly { readonly version: number; readonly bundle_sha256: string }[];
  readonly detail: string;
}

const invalid = (message: string): TallyError => new TallyError('trust_fork_invalid', message);

/**
 * Checks a fork file by itself, without network or trust. The expiry of the bundles does not count.
 * @throws trust_fork_invalid unless it proves a fork; trust_invalid, trust_signature_invalid, trust_root_mismatch for bundles
 * that are not both of one root
 */
export async function verifyTrustFork(file: unknown): Promise<ProvenTrustFork> {
  const { bundles } = requireShape(shape, copyJson(file), 'trust_fork_invalid');
  const [a, b] = bundles;
  if (a === undefined || b === undefined) throw invalid('A proof has two bundles.');
  const first = await checkTrustBundle(a, { now: 0 });
  const second = await checkTrustBundle(b, { now: 0, root: first.pin.root });
  const { root, version, bundle_sha256: hash } = first.pin;
  const pins = [first.pin, second.pin].map((pin) => ({
    version: pin.version,
    bundle_sha256: pin.bundle_sha256,
  }));
  if (hash === second.pin.bundle_sha256) throw invalid('Both bundles are the same.');
  if (version === second.pin.version) {
    const detail = `The root signed two different bundles of version ${version}.`;
    return { root, kind: 'version', bundles: pins, detail };
  }
  const named = second.bundle.previous_sha256;
  if (version + 1 !== second.pin.version || typeof named !== 'string') {
    throw invalid('The bundles are of different versions, and the second does not name the one before it.');
  }
  if (named === hash) throw invalid(`Version ${version + 1} follows version ${version}: this is no fork.`);
  return {
    root,
    kind: 'link',
    bundles: pins,
    detail: `The root signed version ${version}, and a version ${version + 1} that names another one before it (${named}).`,
  };
}

/**
 * Makes the fork file of two bundles: of one version, or of a version and the next.
 * @throws as `verifyTrustFork` where they prove no fork
 */
export async function trustForkOf(first: TrustBundle, second: TrustBundle): Promise<TrustForkFile> {
  const bundles = first.version <= second.version ? ([first, second] as const) : ([second, first] as const);
  const file: TrustForkFile = { type: TYPE, bundles };
  await verifyTrustFork(file);
  return file;
}

/** Whether the newer bundle, of the next version, names the older one. Null where it names none, as earlier releases did. */
export function follows(newer: TrustBundle, older: TrustBundle): boolean | null {
  if (newer.previous_sha256 === undefined) return null;
  return newer.version === older.version + 1 && newer.previous_sha256 === bundleHash(older);
}
