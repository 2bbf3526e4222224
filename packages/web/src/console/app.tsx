import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Skeleton } from './components/states.tsx';
import { Help } from './frame/help.tsx';
import { open } from './frame/open.ts';
import { Palette } from './frame/palette.tsx';
import { useShortcuts } from './frame/shortcuts.ts';
import { Sidebar } from './frame/sidebar.tsx';
import { SignIn } from './identity/sign-in.tsx';
import type { ConsolePage, PageProps } from './page.ts';
import { pages } from './pages.ts';
import { fragment, go, pageAt, path, query } from './router.ts';
import { switchTheme } from './theme.ts';

/** The frame, and in it the page that the address names. */
export function App(): JSX.Element {
  const at = pageAt(pages, path.value);
  const title = at?.page.title ?? 'Not found';
  useEffect(() => {
    document.title = `${title} · Tallystick`;
  }, [title]);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path.value);
  const opened = useRef(true);
  // The focus goes to a page that was opened, as it does where a browser loads one, and does not stay on what is gone.
  useEffect(() => {
    const moved = shown.current !== path.value;
    shown.current = path.value;
    if (!opened.current && (moved || document.activeElement === document.body))
      main.current?.focus({ preventScroll: true });
    opened.current = false;
  }, [path.value, query.value, fragment.value]);
  useShortcuts({
    'mod+k': () => {
      open.value = open.value === 'palette' ? null : 'palette';
    },
    '?': () => {
      open.value = 'help';
    },
    t: switchTheme,
    'g a': () => go('/activity'),
    'g r': () => go('/receipts'),
    'g l': () => go('/log'),
  });
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Sidebar />
      <main ref={main} id="main" tabIndex={-1}>
        {at === null ? (
          <div class="empty">
            <h1>Nothing is here</h1>
            <p>
              No page has the address <code>{path.value}</code>.
            </p>
            <p>
              <a href="/activity">Your calls</a> · <a href="/docs">Reference</a> · <a href="/">Home</a>
            </p>
          </div>
        ) : (
          <Loaded key={at.page.path} page={at.page} params={at.params} />
        )}
      </main>
      {open.value === 'palette' && <Palette />}
      {open.value === 'help' && <Help />}
      {open.value === 'sign-in' && <SignIn />}
    </>
  );
}

/** A page once its script is there. Without it, the reason and a way to try again. */
function Loaded({ page, params }: PageProps & { readonly page: ConsolePage }): JSX.Element {
  const [Page, setPage] = useState<ComponentType<PageProps> | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    page.load().then(
      (module) => setPage(() => module.Page),
      () => setFailed(true),
    );
  }, [page]);
  if (Page !== null) return <Page params={params} />;
  if (!failed) return <Skeleton rows={10} />;
  return (
    <div class="empty" role="alert">
      <h1>The page can’t be loaded</h1>
      <p>
        The service was not reached, or was updated meanwhile. <a href={location.href}>Load it again</a>.
      </p>
    </div>
  );
}
