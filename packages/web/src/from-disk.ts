import { byId } from './dom.ts';

/** Returns whether the page was opened from disk. Then there is no site, so the links to one are removed. */
export function unlinkFromDisk(): boolean {
  if (location.protocol.startsWith('http')) return false;
  byId('pages').hidden = true;
  document.querySelector('.brand')?.removeAttribute('href');
  return true;
}
