import { byId, on } from './dom.ts';

/** A copy as it was before anything was shown in it; on disk there is no site around it to link to. */
export function enableSaving(): void {
  if (!location.protocol.startsWith('http')) {
    byId('pages').hidden = true;
    document.querySelector('.brand')?.removeAttribute('href');
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
