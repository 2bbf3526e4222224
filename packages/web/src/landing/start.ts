import { byId, element, on, setContents } from '../dom.ts';
import { landingProse as prose } from '../prose.ts';

const tabs = [...document.querySelectorAll<HTMLButtonElement>('[role=tab]')];

/** The panel of a tab. */
const panelOf = (tab: HTMLElement): HTMLElement => byId(tab.getAttribute('aria-controls') ?? '');

/** Fills in the address of this service, and makes the tabs of languages work: by pointer, arrows, Home and End. */
export function setUpStart(): void {
  for (const place of document.querySelectorAll('.origin')) place.textContent = location.origin;
  for (const tab of tabs) on(tab, 'click', () => choose(tab));
  byId('start').addEventListener('keydown', (event) => {
    const at = tabs.indexOf(event.target as HTMLButtonElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const tab = at < 0 || to === undefined ? undefined : tabs.at(to % tabs.length);
    if (tab === undefined) return;
    event.preventDefault();
    choose(tab);
    tab.focus();
  });
  setUpCopying();
}

function choose(chosen: HTMLElement): void {
  for (const tab of tabs) {
    tab.ariaSelected = String(tab === chosen);
    tab.tabIndex = tab === chosen ? 0 : -1;
    panelOf(tab).hidden = tab !== chosen;
  }
}

/** A button that copies what is shown; none if the browser gives the page no clipboard. */
function setUpCopying(): void {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (clipboard === undefined) return;
  const button = element('button', 'quiet', prose.text.copy) as HTMLButtonElement;
  button.type = 'button';
  on(button, 'click', async () => {
    const shown = tabs.map(panelOf).find(({ hidden }) => !hidden);
    await clipboard.writeText(shown?.textContent ?? '');
    setContents(button, prose.text.copied);
    setTimeout(() => setContents(button, prose.text.copy), 1500);
  });
  setContents(byId('copy-code'), button);
}
