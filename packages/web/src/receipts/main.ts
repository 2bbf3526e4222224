import { receiptIdPattern, utf8 } from '@tallystick/core';
import { announce, button, byId, element, fromTemplate, on, setContents } from '../dom.ts';
import { downloadLink } from '../download.ts';
import { evaluate } from '../evaluate.ts';
import { fetchBytes, type RequestFailure, reasonOf } from '../fetch-answer.ts';
import { receiptsProse as prose } from '../prose.ts';
import { trustAt } from '../trust.ts';
import { hideOutcome, showOutcome } from '../verdict.ts';
import { type Anchoring, anchoringOf, stateLine } from './anchor.ts';

const box = byId('id', HTMLInputElement);
let runs = 0;

/** Shows the receipt that the address names; of two requests that overlap, the later one is shown. */
async function show(): Promise<void> {
  const run = ++runs;
  // Unlike decodeURIComponent, this accepts any text.
  const id = new URLSearchParams(`id=${location.hash.slice(1)}`).get('id') ?? '';
  box.value = id;
  clear();
  if (id === '') return;
  if (!receiptIdPattern.test(id)) return fail(prose.badId, prose.badIdMessage);
  announce(prose.asking);
  const answer = await fetchBytes(`/v1/receipt/${id}`);
  if (run !== runs) return;
  if (answer instanceof Uint8Array) await draw(id, answer, () => run === runs);
  else failWith(answer);
}

function clear(): void {
  byId('empty').hidden = location.hash.length > 1;
  byId('found').hidden = true;
  setContents(byId('failure'));
  hideOutcome();
}

function failWith(refusal: RequestFailure): void {
  const titles: Record<number, string> = { 404: prose.missing, 410: prose.purged };
  fail(titles[refusal.status ?? 0] ?? prose.failed, reasonOf(refusal, prose));
}

function fail(title: string, message: string): void {
  setContents(byId('failure'), fromTemplate('t-missing', { title, message }));
  announce(`${title}. ${message}`);
}

async function draw(id: string, receipt: Uint8Array, isNewest: () => boolean): Promise<void> {
  const now = Date.now();
  const alone = { request: null, response: null, evidence: null, anchor: null };
  const question = { receipt, ...alone, now, asOf: false, trust: await trustAt(now) };
  const first = await evaluate(question);
  const hash = first.fault === null ? first.anchored : null;
  const anchoring = hash === null ? null : await anchoringOf(hash);
  const anchor = anchoring?.result ? utf8(JSON.stringify(anchoring.result)) : null;
  const outcome = anchor === null ? first : await evaluate({ ...question, anchor });
  if (!isNewest()) return;
  setContents(byId('found-id'), id);
  setContents(byId('anchored'), ...(anchoring === null ? [] : [stateLine(anchoring)]));
  setContents(byId('take'), ...actions(id, new TextDecoder().decode(receipt), anchoring));
  byId('found').hidden = false;
  showOutcome(outcome, { ...question, anchor });
}

function actions(id: string, text: string, anchoring: Anchoring | null): HTMLElement[] {
  const made = [downloadLink(text, `${id}.json`, prose.download)];
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (clipboard !== undefined) {
    const label = element('span', '', prose.copyLink);
    const copy = button('', '', async () => {
      await clipboard.writeText(location.href);
      setContents(label, prose.copiedLink);
      setTimeout(() => setContents(label, prose.copyLink), 1500);
    });
    setContents(copy, label);
    made.push(copy);
  }
  if (anchoring?.result) {
    const result = JSON.stringify(anchoring.result, null, 2);
    made.push(downloadLink(result, `${id}.anchor.json`, prose.downloadAnchor));
  }
  return made;
}

on(byId('lookup'), 'submit', (event) => {
  event.preventDefault();
  const hash = `#${encodeURIComponent(box.value.trim())}`;
  if (location.hash === hash) return show();
  location.hash = hash;
});
on(window, 'hashchange', show);
void show();
