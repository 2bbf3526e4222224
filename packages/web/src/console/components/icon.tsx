import type { JSX } from 'preact';

/** Outlines on a field of 16 by 16. */
const SHAPES = {
  search: 'M7 12.25a5.25 5.25 0 1 0 0-10.5 5.25 5.25 0 0 0 0 10.5Zm3.75-1.5 3.5 3.5',
  copy: 'M5.75 5.75v-4h8.5v8.5h-4m0-4.5h-8.5v8.5h8.5z',
  done: 'm2.75 8.5 3.5 3.5 7-8',
  close: 'm3.75 3.75 8.5 8.5m0-8.5-8.5 8.5',
  menu: 'M2 4.5h12M2 8h12M2 11.5h12',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1m8 8 1 1m0-10-1 1m-8 8-1 1',
  moon: 'M13.5 9.6A6 6 0 1 1 6.4 2.5a4.8 4.8 0 0 0 7.1 7.1Z',
  external: 'M9.5 2.5h4v4m0-4L8 8M6.5 3.5h-4v10h10v-4',
  download: 'M8 2v8m-3.5-3.5L8 10l3.5-3.5M2.5 13.5h11',
  help: 'M6 6.2a2.1 2.1 0 1 1 3.1 1.9c-.7.4-1.1.8-1.1 1.6M8 12v.1M8 15A7 7 0 1 0 8 1a7 7 0 0 0 0 14Z',
  person: 'M8 8.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-5.5 6c.5-2.5 2.7-4 5.5-4s5 1.5 5.5 4',
  fail: 'M8 4.5v4.5m0 2.5v.1M8 15A7 7 0 1 0 8 1a7 7 0 0 0 0 14Z',
  unknown: 'M4 8h8',
  replay: 'M3 8a5 5 0 1 0 1.6-3.7M3 2.2v3h3',
} as const;

export type IconName = keyof typeof SHAPES;

/** A decoration: words beside it, or the label of its button, say the same. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  );
}
