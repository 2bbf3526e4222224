import { effect, signal } from '@preact/signals';
import { isDarkBy, otherTheme, showTheme, storedTheme, storeTheme } from '../theme/choice.ts';

const theme = signal(storedTheme());

const preference = matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = signal(preference.matches);
preference.addEventListener('change', ({ matches }) => {
  systemIsDark.value = matches;
});

effect(() => {
  showTheme(theme.value);
  storeTheme(theme.value);
});

/** Whether the page is dark now. */
export const isDark = (): boolean => isDarkBy(theme.value, systemIsDark.value);

/** Switches to the other look; one that is the system's own follows it from then on. */
export function switchTheme(): void {
  theme.value = otherTheme(theme.value, systemIsDark.value);
}
