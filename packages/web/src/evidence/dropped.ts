import { byId } from '../dom.ts';
import { TEXT_BYTES } from '../inputs.ts';
import { evidenceProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import { tooLarge } from './large.ts';
import type { PolicyDesk } from './policy-desk.ts';

/** What the page does with a file. */
interface Takers {
  readonly take: (bundle: File) => unknown;
  readonly openDesk: () => PolicyDesk;
  /** Verifies nothing, and shows why in place of a verdict. */
  readonly refuse: (title: string, why: string) => void;
}

/**
 * Takes files that were dropped together: a zip archive is a bundle, and anything else a policy. Two of a kind are refused, since the
 * verdict would be about one of them, and so is a policy that browsers don't read. A folder is shown as a bundle that can't be read.
 */
export async function takeDropped(files: readonly File[], { take, openDesk, refuse }: Takers): Promise<void> {
  const starts = await Promise.all(
    files.map((file) =>
      file
        .slice(0, 2)
        .text()
        .catch(() => 'PK'),
    ),
  );
  const isBundle = (_: File, index: number): boolean => starts[index] === 'PK';
  const [bundle, ...bundles] = files.filter(isBundle);
  const [policy, ...policies] = files.filter((file, index) => !isBundle(file, index));
  const { title, message } = prose.verdict.several;
  if (policy !== undefined && policy.size > TEXT_BYTES) {
    refuse(title, `${tooLarge(policy)}.`);
    return;
  }
  if (bundles.length + policies.length > 0) {
    const names = files.map(({ name }) => name).join(', ');
    refuse(title, formatText(message, files.length, names));
    return;
  }
  if (policy !== undefined) {
    byId('policy-panel', HTMLDetailsElement).open = true;
    openDesk().set(new Uint8Array(await policy.arrayBuffer()), policy.name);
  }
  if (bundle !== undefined) take(bundle);
}
