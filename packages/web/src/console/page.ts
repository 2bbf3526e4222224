import type { ComponentType } from 'preact';

/** A page of the console, as `pages.ts` lists it. */
export interface ConsolePage {
  /** Name in the navigation and in the window's title. */
  readonly title: string;
  /** Path such as `/activity`, or with parameters, such as `/calls/:id`. */
  readonly path: string;
  /** Loads the module `pages/NAME/page.tsx`. */
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps> }>;
}

export interface PageProps {
  /** The parts of the address that the path's parameters stand for, decoded. */
  readonly params: Readonly<Record<string, string>>;
}
