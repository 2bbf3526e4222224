import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../components/icon.tsx';
import { Who } from '../identity/who.tsx';
import { shownNavigation } from '../pages.ts';
import { path } from '../router.ts';
import { isDark, switchTheme } from '../theme.ts';
import { open } from './open.ts';

/** The navigation, with who is signed in below it. In narrow windows a button shows it. */
export function Sidebar(): JSX.Element {
  const shown = useSignal(false);
  useEffect(() => {
    shown.value = false;
  }, [path.value, open.value]);
  const menu = useRef<HTMLButtonElement>(null);
  const hide = (): void => {
    shown.value = false;
  };
  return (
    <header
      class="side"
      data-shown={shown.value}
      onKeyDown={({ key }) => {
        if (key !== 'Escape' || !shown.value) return;
        hide();
        menu.current?.focus();
      }}
      // What has the focus below it would be covered.
      onFocusOut={({ currentTarget, relatedTarget }) =>
        relatedTarget instanceof Node && !currentTarget.contains(relatedTarget) && hide()
      }
    >
      <div class="bar">
        <a class="brand" href="/" aria-label="Tallystick, home">
          <Brand />
          Tallystick
        </a>
        <button
          type="button"
          ref={menu}
          class="quiet menu"
          aria-label="Menu"
          aria-expanded={shown.value}
          aria-controls="navigation"
          onClick={() => {
            shown.value = !shown.value;
          }}
        >
          <Icon name={shown.value ? 'close' : 'menu'} />
        </button>
      </div>
      <div class="drawer" id="navigation">
        <button
          type="button"
          class="jump"
          onClick={() => {
            open.value = 'palette';
          }}
        >
          <Icon name="search" />
          <span>Go to…</span>
          <kbd aria-hidden="true">{MOD} K</kbd>
        </button>
        <nav aria-label="Pages">
          {shownNavigation().map(({ title, entries }) => (
            <section key={title}>
              <h2>{title}</h2>
              <ul>
                {entries.map((entry) => (
                  <li key={entry.path}>
                    <a href={entry.path} aria-current={currentAt(entry.path)}>
                      {entry.title}
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </nav>
        <div class="foot">
          <Who />
          <div class="tools">
            <button
              type="button"
              class="quiet"
              aria-label={isDark() ? 'Use the light look' : 'Use the dark look'}
              onClick={switchTheme}
            >
              <Icon name={isDark() ? 'sun' : 'moon'} />
            </button>
            <button
              type="button"
              class="quiet"
              aria-label="Keyboard shortcuts"
              onClick={() => {
                open.value = 'help';
              }}
            >
              <Icon name="help" />
            </button>
          </div>
        </div>
      </div>
    </header>
  );
}

/** Whether an entry is the page that is shown, or the list that it belongs to. */
function currentAt(entry: string): 'page' | 'true' | undefined {
  if (entry === path.value) return 'page';
  const isListed = shownNavigation().some(({ entries }) => entries.some((one) => one.path === path.value));
  return !isListed && path.value.startsWith(`${entry}/`) ? 'true' : undefined;
}

const MOD = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl';

function Brand(): JSX.Element {
  return (
    <svg viewBox="0 0 28 24" width="23" height="20" aria-hidden="true" fill="currentColor">
      <path d="M2.5 3h20A1.5 1.5 0 0 1 24 4.5v6.1h-3.2L19 7.2l-1.8 3.4h-3.4L12 7.2l-1.8 3.4H8.8L7 7.2l-1.8 3.4H1V4.5A1.5 1.5 0 0 1 2.5 3z" />
      <path
        d="M4 13.4h4.2l1.8 3.4 1.8-3.4h1.4l1.8 3.4 1.8-3.4h3.4l1.8 3.4 1.8-3.4H27v6.1a1.5 1.5 0 0 1-1.5 1.5h-20A1.5 1.5 0 0 1 4 19.5z"
        opacity=".6"
      />
    </svg>
  );
}
