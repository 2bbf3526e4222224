import { announce, byId, copyButton, element, on, setContents } from '../dom.ts';
import { statusProse as prose } from '../prose.ts';
import { trustAt } from '../trust.ts';
import { endpointsOf, glanceOf, logOf } from './draw.ts';
import { modelsOf } from './models.ts';
import { readNow } from './read.ts';
import { showVerdict } from './verdict.ts';

/** Milliseconds between requests: a new document is shown soon after it could have come. */
const EVERY_MS = 30_000;

const main = byId('main');
let run = 0;

/** Fetches the status, verifies it, and draws it unless it differs from what was signed. */
async function show(): Promise<void> {
  const mine = ++run;
  main.setAttribute('aria-busy', 'true');
  try {
    const now = Date.now();
    const trust = await trustAt(now);
    const reading = await readNow(trust, now);
    if (mine !== run) return;
    showVerdict(reading, trust, now, show);
    const { report } = reading;
    for (const part of main.querySelectorAll<HTMLElement>('[data-drawn]')) part.hidden = report === null;
    if (report === null) return;
    setContents(byId('glance'), glanceOf(report, now));
    setContents(byId('endpoints'), endpointsOf(report));
    setContents(byId('models'), modelsOf(report));
    setContents(byId('log'), logOf(report));
  } catch (error) {
    // Nothing half drawn may remain as if it were verified.
    for (const part of main.querySelectorAll<HTMLElement>('[data-drawn]')) part.hidden = true;
    setContents(byId('verdict'), element('p', 'refusal', prose.text.broken));
    announce(prose.text.broken);
    throw error;
  } finally {
    if (mine === run) main.setAttribute('aria-busy', 'false');
  }
}

const command = `tally status --verify --url ${location.origin}`;
setContents(byId('command'), command);
setContents(byId('command-copy'), copyButton(command, prose.text.command));
void show();
setInterval(() => {
  if (!document.hidden) void show();
}, EVERY_MS);
on(document, 'visibilitychange', () => {
  if (!document.hidden) return show();
});
