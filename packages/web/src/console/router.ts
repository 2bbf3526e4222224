import { computed, signal } from '@preact/signals';
import type { ConsolePage } from './page.ts';

const address = signal(new URL(location.href));

/** Path of the address. */
export const path = computed(() => address.value.pathname);
/** What follows the `#` of the address, decoded as far as it can be. */
export const fragment = computed(() => {
  // Unlike decodeURIComponent, this accepts any text.
  const text = address.value.hash.slice(1).replaceAll('+', '%2B').replaceAll('&', '%26');
  return new URLSearchParams(`text=${text}`).get('text') ?? '';
});
/** Query of the address. */
export const query = computed(() => address.value.searchParams);

/** Path, query and fragment that a step back or forward in the history has left; null after any other move. */
export let left: string | null = null;

addEventListener('popstate', () => {
  left = address.value.href.slice(address.value.origin.length);
  address.value = new URL(location.href);
});

/** Goes to an address of this app. @param how `replace` leaves no step to go back to */
export function go(to: string, how: 'push' | 'replace' = 'push'): void {
  const url = new URL(to, location.href);
  if (how === 'push') history.pushState(null, '', url);
  else history.replaceState(null, '', url);
  const moved = url.pathname !== address.value.pathname;
  left = null;
  address.value = url;
  if (moved) scrollTo(0, 0);
}

/** Changes members of the query and keeps the others; null removes one. */
export function setQuery(changes: Readonly<Record<string, string | null>>, how?: 'push' | 'replace'): void {
  const url = new URL(address.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  if (url.href !== address.value.href) go(url.href, how);
}

/** The page at a path and the values of its parameters; null if there is none. */
export function pageAt(
  pages: readonly ConsolePage[],
  pathname: string,
): { readonly page: ConsolePage; readonly params: Record<string, string> } | null {
  for (const page of pages) {
    const params = paramsOf(page.path, pathname);
    if (params !== null) return { page, params };
  }
  return null;
}

function paramsOf(template: string, pathname: string): Record<string, string> | null {
  const [names, values] = [template.split('/'), pathname.split('/')];
  if (names.length !== values.length) return null;
  const params: Record<string, string> = {};
  for (const [at, name] of names.entries()) {
    const value = values[at] ?? '';
    if (!name.startsWith(':')) {
      if (name !== value) return null;
    } else if (value === '') return null;
    else params[name.slice(1)] = decoded(value);
  }
  return params;
}

/** The text itself where it is no valid percent-encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Follows plain clicks on links to `pages` without loading anything. */
export function followLinks(pages: readonly ConsolePage[]): void {
  addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || pageAt(pages, url.pathname) === null) return;
    if (url.hash !== '' && url.pathname === location.pathname) return;
    event.preventDefault();
    go(url.href);
  });
}
