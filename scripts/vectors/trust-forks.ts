import { type JsonObject, sha256Hex } from '../../packages/core/src/index.ts';
import { canonicalBytes } from '../../packages/core/src/json/canonical.ts';
import { withMember } from './change.ts';
import { signers } from './keys.ts';
import { signIssue } from './sign.ts';
import { bundle } from './trust.ts';

/** A fork file of trust, and what it proves, or the code of the error. */
export interface TrustForkCase {
  readonly name: string;
  readonly comment: string;
  readonly file: JsonObject;
  readonly expected:
    | { readonly root: string; readonly kind: 'version' | 'link'; readonly versions: readonly number[] }
    | { readonly code: string };
}

const hashOf = (document: JsonObject): string => sha256Hex(canonicalBytes(document));
const fork = (...bundles: JsonObject[]): JsonObject => ({ type: 'svc-trust-fork-v1', bundles });

export async function trustForkCases(): Promise<TrustForkCase[]> {
  const two = await bundle(2);
  const otherTwo = await signIssue({ ...two, chain: null }, signers.root);
  const three = await signIssue({ ...(await bundle(3)), previous_sha256: hashOf(two) }, signers.root);
  const four = await signIssue({ ...(await bundle(4)), previous_sha256: hashOf(two) }, signers.root);
  const byStranger = await bundle(2, signers['other-root']);
  const root = `sha256:${sha256Hex(signers.root.publicKey)}`;
  const proves = (
    name: string,
    comment: string,
    kind: 'version' | 'link',
    [first, second]: readonly [JsonObject, JsonObject],
  ): TrustForkCase => ({
    name,
    comment,
    file: fork(first, second),
    expected: { root, kind, versions: [Number(first.version), Number(second.version)] },
  });
  const none = (name: string, comment: string, file: JsonObject, code = 'trust_fork_invalid') => ({
    name,
    comment,
    file,
    expected: { code },
  });
  return [
    proves('two bundles of one version', 'In either order.', 'version', [two, otherTwo]),
    proves('two bundles of one version, turned', 'In either order.', 'version', [otherTwo, two]),
    proves('a bundle that names another before it', 'The other one need not be there.', 'link', [
      otherTwo,
      three,
    ]),
    none('the same bundle twice', 'It does not contradict itself.', fork(two, two)),
    none('a bundle and the next', 'The next one names it.', fork(two, three)),
    none('the next bundle first', 'The older one comes first.', fork(three, otherTwo)),
    none('a version left out', 'Nothing says what the third one names.', fork(otherTwo, four)),
    none('the next bundle names none', 'As earlier releases made them.', fork(otherTwo, await bundle(3))),
    none('one bundle', 'A proof has two.', fork(two)),
    none('three bundles', 'A proof has two.', fork(two, otherTwo, three)),
    none('a further member', 'The file is closed.', { ...fork(two, otherTwo), note: 'x' }),
    none('another type', 'It says what it is.', { ...fork(two, otherTwo), type: 'svc-log-fork-v1' }),
    none('of two roots', 'Each root may say what it likes.', fork(two, byStranger), 'trust_root_mismatch'),
    none(
      'a bundle that was changed',
      'The root did not sign it.',
      fork(two, withMember(otherTwo, 'log', null)),
      'trust_signature_invalid',
    ),
    none('a bundle that is none', 'Its form is wrong.', fork(two, { version: 2 }), 'trust_invalid'),
  ];
}
