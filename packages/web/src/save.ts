import { byId, on } from './dom.ts';
import { unlinkFromDisk } from './from-disk.ts';

/** Enables saving a copy of the page as it was before anything was shown in it. */
export function enableSaving(): void {
  if (unlinkFromDisk()) {
    byId('save').hidden = true;
    return;
  }
  const pristine = `<!doctype html>\n${document.documentElement.outerHTML}\n`;
  on(byId('save'), 'click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([pristine], { type: 'text/html' }));
    link.download = 'tallystick-verify.html';
    link.click();
  });
}
