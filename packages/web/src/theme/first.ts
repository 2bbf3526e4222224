import { otherTheme, showTheme, storedTheme, storeTheme } from './choice.ts';

// Runs in the head of each page, before anything is drawn, so that a chosen look does not flash. It also works the
// header of the pages that are not the console: its switch of the look, and its menus.

showTheme(storedTheme());

addEventListener('click', ({ target }) => {
  if (!(target instanceof Element)) return;
  if (target.closest('#theme') !== null) switchTheme();
  closeMenus(target.closest('.pages details'));
});

// What has the focus below a menu would be covered.
addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget instanceof Element) closeMenus(relatedTarget.closest('.pages details'));
});

addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  const open = document.querySelector('.pages details[open]');
  if (open?.contains(document.activeElement)) open.querySelector('summary')?.focus();
  closeMenus(null);
});

function switchTheme(): void {
  const theme = otherTheme(storedTheme(), matchMedia('(prefers-color-scheme: dark)').matches);
  storeTheme(theme);
  showTheme(theme);
}

function closeMenus(but: Element | null): void {
  for (const menu of document.querySelectorAll('.pages details[open]')) {
    if (menu !== but) menu.removeAttribute('open');
  }
}
