import { useEffect } from 'preact/hooks';

/** What each key does: a character, `g` and a character with a space between, or `mod+k` for Ctrl or Command. */
type Shortcuts = Readonly<Record<string, () => void>>;

const active = new Set<Shortcuts>();
let before = '';

/** Binds keys while the component is there. In boxes that are typed in, only those with `mod+` count. */
export function useShortcuts(shortcuts: Shortcuts): void {
  useEffect(() => {
    active.add(shortcuts);
    return () => void active.delete(shortcuts);
  });
}

addEventListener('keydown', (event) => {
  const { key, target } = event;
  if (event.altKey || key === 'Shift') return;
  const mod = event.ctrlKey || event.metaKey;
  if (!mod && (isTypedIn(target) || document.querySelector('dialog[open]') !== null)) return;
  const pressed = mod ? `mod+${key.toLowerCase()}` : key;
  const act = find(`${before} ${pressed}`) ?? find(pressed);
  before = pressed;
  if (act === undefined) return;
  event.preventDefault();
  before = '';
  act();
});

function find(keys: string): (() => void) | undefined {
  return [...active].map((shortcuts) => shortcuts[keys]).findLast((act) => act !== undefined);
}

function isTypedIn(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}
