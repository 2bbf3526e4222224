/** What the reader chose; `system` follows the system's setting. */
export type Theme = 'system' | 'light' | 'dark';

const STORED_AS = 'tallystick-theme';

/** The choice that this browser stored for all pages. */
export function storedTheme(): Theme {
  try {
    const text = localStorage.getItem(STORED_AS);
    return text === 'light' || text === 'dark' ? text : 'system';
  } catch {
    return 'system';
  }
}

/** Gives the page a look. */
export function showTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
}

/** Stores the choice for all pages. */
export function storeTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(STORED_AS);
    else localStorage.setItem(STORED_AS, theme);
  } catch {
    // This browser stores nothing for the page: the choice lasts until it is closed.
  }
}

/** Whether a page with this choice is dark. */
export const isDarkBy = (theme: Theme, systemIsDark: boolean): boolean =>
  theme === 'system' ? systemIsDark : theme === 'dark';

/** The other look; if it is the system's own, the page follows the system from then on. */
export function otherTheme(theme: Theme, systemIsDark: boolean): Theme {
  const dark = !isDarkBy(theme, systemIsDark);
  return dark === systemIsDark ? 'system' : dark ? 'dark' : 'light';
}
