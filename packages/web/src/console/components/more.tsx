import type { ComponentChildren, JSX } from 'preact';
import type { Listing } from '../listing.ts';
import { Problem } from './states.tsx';

/** The button that reads the next page of a list, where there is one, below the problem that the last attempt met. */
export function More({
  of: { more, busy, olderProblem },
  children,
}: {
  readonly of: Pick<Listing<unknown>, 'more' | 'busy' | 'olderProblem'>;
  /** The button's text, such as `Show older calls`. */
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
