import type { ComponentChildren, JSX } from 'preact';

export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
}

/** A few numbers that belong together, each with its name and a note. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): JSX.Element {
  return (
    <dl class="numbers">
      {facts.map(({ name, value, note }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            {note !== undefined && <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
