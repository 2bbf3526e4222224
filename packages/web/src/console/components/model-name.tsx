import type { JSX } from 'preact';

/** A model's name. Lists leave out what stands before the slash where there is no room for both. */
export function ModelName({ of }: { readonly of: string }): JSX.Element {
  const slash = of.indexOf('/') + 1;
  return (
    <span class="model-name">
      {slash > 0 && <span class="maker">{of.slice(0, slash)}</span>}
      <span>{of.slice(slash)}</span>
    </span>
  );
}
