import type { SessionEntry, SessionFault, SessionVerification } from '@tallystick/core';
import { element, icon, on, type State } from '../dom.ts';
import { field } from '../fields.ts';
import { formatText } from '../words.ts';
import { sessionProse as prose } from './prose.ts';

/** Rows in one fold. A session with no more than two folds is shown whole. */
const FOLD = 100;
/** Most folds that are open at first, because of a fault in them. */
const OPEN_FOLDS = 3;

/** One line of the file, or a gap between two of them. */
interface Row {
  /** The receipt; null for a gap, and for a line that takes no part. */
  readonly entry: SessionEntry | null;
  /** Null for a gap. */
  readonly line: number | null;
  readonly seq: number | null;
  readonly faults: readonly SessionFault[];
}

/** Draws a session's receipts in the order of the file, each fault in its place; many are folded, and drawn when unfolded. */
export function timelineOf({ entries, faults }: SessionVerification): HTMLElement {
  const rows = rowsOf(entries, faults);
  const section = element('section', 'block', element('h3', '', prose.timeline));
  if (rows.length <= 2 * FOLD) {
    section.append(listOf(rows));
    return section;
  }
  let opened = 0;
  for (let start = 0; start < rows.length; start += FOLD) {
    const part = rows.slice(start, start + FOLD);
    const isOpen = start === 0 || (opened < OPEN_FOLDS && part.some((row) => row.faults.length > 0));
    if (isOpen) opened++;
    section.append(folded(element('summary', '', summaryOf(part)), 'fold', isOpen, () => listOf(part)));
  }
  return section;
}

/** Rows in the order of the file; a gap stands before the first receipt with a higher number. */
function rowsOf(entries: readonly SessionEntry[], faults: readonly SessionFault[]): Row[] {
  const byLine = Map.groupBy(faults, ({ line }) => line);
  const gaps = (byLine.get(null) ?? []).toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  byLine.delete(null);
  const whole = entries.map((entry) => {
    const own = byLine.get(entry.line) ?? [];
    byLine.delete(entry.line);
    return { entry, line: entry.line, seq: entry.seq, faults: own };
  });
  const left = [...byLine].map(([line, own]) => ({
    entry: null,
    line,
    seq: own[0]?.seq ?? null,
    faults: own,
  }));
  const lines = [...whole, ...left].toSorted((a, b) => Number(a.line) - Number(b.line));
  const asRow = (gap: SessionFault): Row => ({ entry: null, line: null, seq: gap.seq, faults: [gap] });
  const rows: Row[] = [];
  let passed = 0;
  for (const row of lines) {
    for (; row.entry !== null && passed < gaps.length; passed++) {
      const gap = gaps[passed];
      if (gap === undefined || Number(gap.seq) > row.entry.seq) break;
      rows.push(asRow(gap));
    }
    rows.push(row);
  }
  return [...rows, ...gaps.slice(passed).map(asRow)];
}

function summaryOf(rows: readonly Row[]): string {
  const numbers = rows.flatMap(({ seq }) => seq ?? []);
  const wrong = rows.reduce((sum, row) => sum + row.faults.length, 0);
  const unfinished = rows.filter(
    ({ entry }) => entry?.call.kind === 'tool' && entry.call.outcome !== 'completed',
  ).length;
  return [
    formatText(prose.chunk, numbers[0] ?? '', numbers.at(-1) ?? ''),
    unfinished > 0 ? formatText(prose.chunkOutcomes, unfinished) : '',
    wrong > 0 ? formatText(prose.chunkFaults, wrong) : '',
  ].join('');
}

/** A fold whose contents are drawn when it is opened for the first time. */
function folded(summary: HTMLElement, className: string, isOpen: boolean, draw: () => Node): HTMLElement {
  const fold = document.createElement('details');
  fold.className = className;
  fold.append(summary);
  const fill = (): void => {
    if (fold.open && fold.childElementCount === 1) fold.append(draw());
  };
  fold.open = isOpen;
  fill();
  on(fold, 'toggle', fill);
  return fold;
}

function listOf(rows: readonly Row[]): HTMLElement {
  return element('ol', 'timeline', ...rows.map(drawRow));
}

function drawRow({ entry, line, faults }: Row): HTMLElement {
  const body = element('div', 'what');
  if (entry !== null) body.append(...receiptOf(entry));
  else if (line !== null) body.append(element('p', 'act', formatText(prose.left, line)));
  for (const { name, detail } of faults) {
    body.append(element('p', 'fault', icon('fail'), element('strong', '', name), ` ${detail}`));
  }
  const item = element('li', line === null ? 'gap' : '', element('span', 'seq', numberOf(entry)), body);
  item.dataset['state'] = faults.length > 0 ? 'fail' : stateOf(entry);
  return item;
}

const numberOf = (entry: SessionEntry | null): string => (entry === null ? '' : String(entry.seq));

function stateOf(entry: SessionEntry | null): State {
  if (entry?.reference !== undefined) {
    return ({ valid: 'pass', not_given: 'unsure', contradicts: 'fail' } as const)[entry.reference];
  }
  return entry?.call.kind === 'tool' && entry.call.outcome !== 'completed' ? 'unsure' : 'pass';
}

function* receiptOf(entry: SessionEntry): Generator<Node> {
  const { call, issued_at: at } = entry;
  const act = element('p', 'act', ...actOf(entry));
  yield act;
  const about = element('p', 'about', at, ...(entry.anchored ? [` · ${prose.anchoredHere}`] : []));
  if (call.kind === 'tool') {
    const { name, version, transport } = call.server;
    about.append(' · ', element('span', '', [name, version].filter((part) => part !== null).join(' ')));
    about.append(` · ${prose.transports[transport]}`);
  }
  yield about;
  const hidden = element('span', 'hidden', ` ${formatText(prose.ofNumber, entry.seq)}`);
  yield folded(element('summary', '', prose.details, hidden), 'hashes', false, () => fieldsOf(entry));
}

function actOf({ call, reference }: SessionEntry): Node[] {
  const outcome = (state: State, text: string): Node => {
    const made = element('span', 'outcome', icon(state), text);
    made.dataset['state'] = state;
    return made;
  };
  if (call.kind === 'tool') {
    const state = call.outcome === 'completed' ? 'pass' : 'unsure';
    return [element('strong', '', call.tool), outcome(state, prose.outcomes[call.outcome])];
  }
  if (call.kind === 'reference') {
    const what = call.child === undefined ? call.receipt_id : formatText(prose.child, call.child);
    const named = element('span', '', formatText(prose.refers, what));
    if (reference === undefined) return [named];
    const state = ({ valid: 'pass', not_given: 'unknown', contradicts: 'fail' } as const)[reference];
    return [named, outcome(state, prose.references[reference])];
  }
  return [element('span', '', call.event === 'open' ? prose.opens : formatText(prose.closes, call.count))];
}

function fieldsOf({ call, line, receipt_id: id, ...hashes }: SessionEntry): HTMLElement {
  const { fields } = prose;
  const rows: (readonly [string, string | null])[] = [
    [fields.arguments, hashes.request_hash],
    [fields.result, hashes.response_hash],
    [fields.receipt, hashes.sha256],
    [fields.before, call.session.prev],
    [fields.named, call.kind === 'reference' ? call.receipt_sha256 : null],
    [fields.identity, call.kind === 'tool' ? call.server.identity_sha256 : null],
    [fields.id, id],
    [fields.line, String(line)],
  ];
  return element(
    'dl',
    'fields',
    ...rows.flatMap(([name, value]) => (value === null ? [] : [field(name, value)])),
  );
}
