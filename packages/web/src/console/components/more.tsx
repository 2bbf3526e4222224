import type { ComponentChildren, JSX } from 'preact';
import type { Listing } from '../listing.ts';
import { Problem } from './states.tsx';

/** Reads the next page of a list, as long as there is one; why it could not be read stands above. */
export function More({
  of: { more, busy, olderProblem },
  children,
}: {
  readonly of: Pick<Listing<unknown>, 'more' | 'busy' | 'olderProblem'>;
  /** What the button says: `Show older calls`. */
  readonly children: ComponentChildren;
}): JSX.Element | null {
  if (more === null) return null;
  return (
    <>
      {olderProblem !== null && <Problem of={olderProblem} />}
      <button type="button" class="more" disabled={busy} onClick={more}>
        {children}
      </button>
    </>
  );
}
