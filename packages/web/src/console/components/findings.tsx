import type { ComponentChildren, JSX } from 'preact';
import { Icon } from './icon.tsx';

/** One thing that was checked. */
export interface Finding {
  readonly state: 'pass' | 'fail' | 'unknown';
  readonly name: string;
  readonly detail: ComponentChildren;
}

const ICONS = { pass: 'done', fail: 'close', unknown: 'unknown' } as const;

/** Findings, each with a sign and words that say the same. */
export function Findings({ of }: { readonly of: readonly Finding[] }): JSX.Element {
  return (
    <ul class="findings">
      {of.map(({ state, name, detail }) => (
        <li key={name} data-state={state}>
          <Icon name={ICONS[state]} />
          <span>
            <b>{name}</b> {detail}
          </span>
        </li>
      ))}
    </ul>
  );
}
