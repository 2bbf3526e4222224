import { byId } from './dom.ts';

/** Whether the page was opened from disk: there is no site around it then, and its links to one are taken away. */
export function unlinkFromDisk(): boolean {
  if (location.protocol.startsWith('http')) return false;
  byId('pages').hidden = true;
  document.querySelector('.brand')?.removeAttribute('href');
  return true;
}
