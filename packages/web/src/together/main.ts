import {
  correctionText,
  isForCorrection,
  isObject,
  type JudgedLink,
  type JudgedReceipt,
  judgeCorrections,
  nameOf,
  readCorrection,
  utf8,
} from '@tallystick/core';
import { isSession } from '../documents.ts';
import { byId, element, icon, type State, setContents } from '../dom.ts';
import type { evaluate } from '../evaluate.ts';
import { later } from '../later/run.ts';
import type { trustAt } from '../trust.ts';
import { type showFault, stateOfVerdict, titleOf } from '../verdict.ts';
import { formatText, prose } from '../words.ts';

/*
 * The page's third script, which is run each time that several files are given together. It judges each receipt among them by
 * itself, and shows below the verdict of the last one what was found of each, and which of them corrects which.
 */

declare global {
  /**
   * Functions of the page's first script. A copy of them here would not know the errors that the first script throws, nor the trust that
   * it holds and the browser does not store.
   */
  var tallystickPage: {
    readonly evaluate: typeof evaluate;
    readonly trustAt: typeof trustAt;
    /** Shows why an input is not judged, in place of the verdict. */
    readonly refuse: typeof showFault;
  };
}

interface Given {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** One line of a list, with the state that its icon shows. */
interface Line {
  readonly state: State;
  readonly text: string;
  readonly detail: string;
}

const STARTED = 'tallystick-together';
const result = byId('result');

void start(globalThis.tallystickGiven ?? []);

async function start(files: readonly File[]): Promise<void> {
  // Ends what an earlier run shows.
  dispatchEvent(new Event(STARTED));
  const given = await Promise.all(files.map(read));
  if (given.some(({ bytes }) => isSession(bytes))) return;
  const receipts = given.filter(({ bytes }) => later().kindOf(bytes) === 'receipt');
  if (receipts.length < 2) return;
  showBelow(receipts);
}

/** Reads a file; a folder counts as an empty one, as it does where it is dropped alone. */
async function read(file: File): Promise<Given> {
  return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer().catch(() => [])) };
}

/** Shows the receipts below the verdict, also after that is drawn again, until the reader gives another receipt. */
function showBelow(receipts: readonly Given[]): void {
  const block = element('section', 'block together');
  const judgedAlone = inBox();
  let runs = 0;
  const draw = async (): Promise<void> => {
    if (result.hidden || result.contains(block)) return;
    if (inBox() !== judgedAlone) return end();
    const run = ++runs;
    const lists = await judge(receipts);
    if (run !== runs || result.hidden) return;
    setContents(block, ...lists);
    result.append(block);
  };
  const observer = new MutationObserver(() => void draw());
  const end = (): void => {
    runs++;
    observer.disconnect();
    block.remove();
  };
  addEventListener(STARTED, end, { once: true });
  observer.observe(result, { childList: true });
  void draw();
}

const textIn = (id: string): string => byId(id, HTMLTextAreaElement).value;
const inBox = (): string => `${textIn('receipt')}\n${byId('receipt-source').textContent}`;

/** Judges every receipt by itself, then the corrections among them. */
async function judge(receipts: readonly Given[]): Promise<HTMLElement[]> {
  const asOf = byId('as-of', HTMLInputElement).value.trim();
  const now = asOf === '' ? Date.now() : later().timeOf(asOf);
  const trust = await tallystickPage.trustAt(now);
  const policy = textIn('policy');
  const beside = { request: null, response: null, evidence: null, anchor: null };
  const basis = { ...beside, policy: policy === '' ? null : utf8(policy), now, asOf: asOf !== '', trust };
  const lines: Line[] = [];
  const links: JudgedLink[] = [];
  const judged: JudgedReceipt[] = [];
  for (const { name, bytes } of receipts) {
    const outcome = await tallystickPage.evaluate({ ...basis, receipt: bytes });
    if (outcome.fault !== null) {
      const text = formatText(prose.text.unreadable, outcome.input);
      lines.push({ state: 'fail', text: `${name}: ${text}`, detail: outcome.fault.message });
      continue;
    }
    const { verdict, receipt, anchored } = outcome;
    if (verdict.family === null) {
      lines.push({ state: 'unknown', text: name, detail: prose.text.togetherAlone });
      continue;
    }
    const detail = verdict.receipt_id ?? '';
    lines.push({ state: stateOfVerdict(outcome), text: `${name}: ${titleOf(outcome)}`, detail });
    if (anchored === null || !isObject(receipt)) continue;
    const says = readCorrection(receipt);
    const one = { name: nameOf(receipt), verdict };
    if (says === null) judged.push(one);
    else links.push({ ...one, says, isForCorrection: isForCorrection(receipt) });
  }
  const found = judgeCorrections(links, judged).map(
    (correction): Line => ({
      state: correction.valid ? 'pass' : 'fail',
      text: correctionText(correction),
      detail: correction.valid && !correction.trusted ? prose.text.correctionUntrusted : '',
    }),
  );
  return [
    ...listOf(prose.text.together, lines),
    ...(found.length === 0 ? [] : listOf(prose.text.corrections, found)),
  ];
}

function listOf(title: string, lines: readonly Line[]): HTMLElement[] {
  const items = lines.map(({ state, text, detail }) => {
    const item = element('li', '', icon(state), text, element('span', 'detail', detail));
    item.dataset['state'] = state;
    return item;
  });
  return [element('h3', '', title), element('ul', 'related', ...items)];
}
