import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Listing } from '../listing.ts';
import { Problem } from './states.tsx';

/**
 * The button that reads the next page of a list, where there is one, below the problem that the last attempt met. Who presses it
 * by a key has the focus on the first row of that page then.
 */
export function More({
  of: { more, busy, olderProblem },
  children,
}: {
  readonly of: Pick<Listing<unknown>, 'more' | 'busy' | 'olderProblem'>;
  /** The button's text, such as `Show older calls`. */
  readonly children: ComponentChildren;
}): JSX.Element | null {
  const button = useRef<HTMLButtonElement>(null);
  const before = useRef<number | null>(null);
  useEffect(() => {
    if (busy || before.current === null) return;
    const added = rows().slice(before.current);
    before.current = null;
    const link = added
      .map((row) => row.querySelector<HTMLElement>('a, button'))
      .find((found) => found !== null);
    (link ?? button.current)?.focus();
  }, [busy]);
  if (more === null) return null;
  return (
    <>
      {olderProblem !== null && <Problem of={olderProblem} />}
      <button
        ref={button}
        type="button"
        class="more"
        disabled={busy}
        onClick={({ detail }) => {
          if (detail === 0) before.current = rows().length;
          more();
        }}
      >
        {children}
      </button>
    </>
  );
}

const rows = (): Element[] => [...document.querySelectorAll('.list tbody tr')];
