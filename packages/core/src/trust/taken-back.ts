import { TallyError } from '../errors.ts';
import { bundleHash, type TrustBundle, type TrustPin } from './bundle.ts';
import { vanished } from './vanished.ts';

/**
 * What a newer bundle takes back of the one that a client keeps, in the sentences of `vanished`; nothing if their roots differ.
 * @param kept the earlier bundle and its pin, as they were stored. If the bundle is not the one that the pin names, whatever it is instead,
 * the only sentence says so
 * @param newer a checked bundle
 */
export function takenBack(
  { pin, bundle }: { readonly pin: TrustPin; readonly bundle: TrustBundle },
  newer: TrustBundle,
): string[] {
  if (!isPinned(bundle, pin))
    return ['The bundle that was kept is damaged, so nothing shows what the newer one takes back of it.'];
  return bundle.root.public_key === newer.root.public_key ? vanished(bundle, newer) : [];
}

function isPinned(bundle: TrustBundle, pin: TrustPin | null | undefined): boolean {
  try {
    return bundleHash(bundle) === pin?.bundle_sha256;
  } catch (error) {
    // What JSON can't express has no hash.
    if (error instanceof TallyError) return false;
    throw error;
  }
}
