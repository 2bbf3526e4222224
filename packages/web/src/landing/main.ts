import { canonicalBytes, isObject, type JsonValue, parseJson, sha256, utf8 } from '@tallystick/core';
import { announce, byId, element, fromTemplate, on, setContents } from '../dom.ts';
import { downloadLink } from '../download.ts';
import { fetchBytes, reasonOf } from '../fetch-answer.ts';
import { landingProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import { showPrices } from './prices.ts';
import { setUpStart } from './start.ts';
import { tallyStickOf } from './tally-stick.ts';
import { tamper } from './tamper.ts';
import { showVerdict } from './verdict.ts';

const form = byId('mint', HTMLFormElement);
const about = byId('about', HTMLInputElement);
const purpose = byId('purpose', HTMLInputElement);
const mintButton = byId('mint-button', HTMLButtonElement);
const box = byId('receipt', HTMLTextAreaElement);

/** The receipt as it was signed: its formatted text, and the hash of its canonical bytes. */
let signed = { text: '', hash: sha256(utf8('tallystick')) };
let runs = 0;

async function mint(): Promise<void> {
  setContents(byId('mint-error'));
  if (about.value === '') return refuse(prose.text.empty);
  mintButton.disabled = true;
  setContents(mintButton, prose.text.minting);
  const answer = await fetchBytes('/v1/receipt/free', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: about.value, purpose: purpose.value }),
  });
  mintButton.disabled = false;
  setContents(mintButton, prose.text.mint);
  if (!(answer instanceof Uint8Array)) return refuse(reasonOf(answer, prose.text));
  await showMinted(parseJson(answer));
}

function refuse(message: string): void {
  setContents(byId('mint-error'), fromTemplate('t-refusal', { title: prose.text.refused, message }));
  announce(`${prose.text.refused} ${message}`, 'fail');
}

async function showMinted(receipt: JsonValue): Promise<void> {
  signed = { text: JSON.stringify(receipt, null, 2), hash: sha256(canonicalBytes(receipt)) };
  box.value = signed.text;
  setContents(byId('take'), ...linksTo(receipt));
  byId('bench').hidden = false;
  await judgeNow();
  byId('bench-title').focus({ preventScroll: true });
  byId('bench').scrollIntoView({ block: 'nearest' });
}

function linksTo(receipt: JsonValue): HTMLElement[] {
  const id = isObject(receipt) && typeof receipt.receipt_id === 'string' ? receipt.receipt_id : '';
  const page = element('a', 'button', prose.text.page) as HTMLAnchorElement;
  page.href = `/receipts#${id}`;
  return [downloadLink(signed.text, `${id}.json`, prose.text.download), page];
}

/** Judges the text in the box; of two judgements that overlap, the later one is shown. */
async function judgeNow(): Promise<void> {
  const run = ++runs;
  const bytes = utf8(box.value);
  const document = await showVerdict(bytes, () => run === runs);
  if (run === runs) drawHalves(document === null ? sha256(bytes) : sha256(canonicalBytes(document)));
}

function drawHalves(held: Uint8Array): void {
  const fits = held.every((byte, index) => byte === signed.hash[index]);
  byId('halves').dataset.state = fits ? 'pass' : 'fail';
  setContents(byId('halves'), tallyStickOf(signed.hash, held));
}

/** Scrolls to the line of a character, which selecting it does not do. */
function scrollTo(at: number): void {
  const line = box.value.slice(0, at).split('\n').length - 1;
  const height = Number.parseFloat(getComputedStyle(box).lineHeight);
  box.scrollTop = line * height - box.clientHeight / 2;
}

on(form, 'submit', (event) => {
  event.preventDefault();
  return mint();
});
on(box, 'input', judgeNow);
on(byId('tamper'), 'click', async () => {
  const change = tamper(box.value);
  if (change === null) return;
  box.value = change.text;
  await judgeNow();
  box.focus({ preventScroll: true });
  box.setSelectionRange(change.at, change.at + 1);
  scrollTo(change.at);
  announce(formatText(prose.text.changed, change.from, change.to, change.member));
});
on(byId('restore'), 'click', async () => {
  box.value = signed.text;
  await judgeNow();
  announce(prose.text.restored);
});
setContents(byId('stick'), tallyStickOf(signed.hash, signed.hash));
setUpStart();
void showPrices();
