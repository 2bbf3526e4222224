import {
  type AnchoredResult,
  type Check,
  type Checkpoint,
  encodePosting,
  type JsonValue,
  parseAnchorRef,
  parseCheckpointText,
  parseNote,
  readAnchoredResult,
  TallyError,
  toHex,
} from '@tallystick/core';
import { attempt } from './attempt.ts';
import { checkRow, stateOf } from './checks.ts';
import { copyButton, element, fromTemplate, setContents, slotOf } from './dom.ts';
import { field } from './fields.ts';
import type { TrustInUse } from './trust.ts';
import { formatText, prose } from './words.ts';

/** Draws the findings about a receipt's anchor, and, for an anchored result, where in the log and on the chain it is. */
export function anchorOf(anchor: JsonValue, checks: readonly Check[], trust: TrustInUse): HTMLElement {
  const own = checks.filter(({ name }) => name.startsWith('anchor'));
  const rows = own.map((check) => checkRow(stateOf(check), check.name, check.detail));
  const block = element(
    'section',
    'block anchor',
    element('h3', '', prose.text.anchor),
    element('ul', 'checks', ...rows),
  );
  const result = attempt(() => readAnchoredResult(anchor));
  if (!(result instanceof TallyError)) block.append(placeOf(result, own, trust));
  return block;
}

function placeOf(result: AnchoredResult, checks: readonly Check[], trust: TrustInUse): DocumentFragment {
  const { text } = prose;
  const head = headOf(result);
  const place = fromTemplate('t-place', {
    network: result.network,
    block: `${result.block_height}`,
    leaf: `${parseAnchorRef(result.anchor_ref).index}`,
    size: `${result.tree_size ?? head?.size ?? text.notSaid}`,
    path: formatText(text.hashes, result.merkle_path.length),
    verified: result.verified_at,
  });
  const fields = [field(text.transaction, result.tx_hash), field(text.root, result.merkle_root)];
  setContents(slotOf(place, 'fields'), ...fields, ...noteRow(result.checkpoint));
  const failed = checks.some(({ ok }) => ok === false);
  if (failed) place.prepend(element('p', '', text.anchorDoubt));
  else place.append(comparison(result, head, trust));
  return place;
}

/** The tree head in the checkpoint, whether or not its signature is good; null if it can't be read. */
function headOf({ checkpoint = '' }: AnchoredResult): Checkpoint | null {
  const head = attempt(() => parseCheckpointText(parseNote(checkpoint).text));
  return head instanceof TallyError ? null : head;
}

/** Draws a signed note, line by line. */
function noteRow(note: string | undefined): Node[] {
  if (note === undefined) return [];
  const name = prose.text.checkpoint;
  const lines = note
    .trimEnd()
    .split('\n')
    .map((line) => element('span', 'line', line));
  const value = element('dd', '', element('span', 'value', ...lines), copyButton(note, name));
  return [element('div', '', element('dt', '', name), value)];
}

/** Draws the values that an explorer has to show: the account from the trust in use, and the data from the checkpoint. */
function comparison(
  { network }: AnchoredResult,
  head: Checkpoint | null,
  { bundle }: TrustInUse,
): DocumentFragment {
  const { text } = prose;
  const chain = bundle?.log?.origin === head?.origin ? bundle?.chain : null;
  const compare = fromTemplate('t-compare');
  setContents(
    slotOf(compare, 'fields'),
    field(text.data, head === null ? text.noData : `0x${toHex(encodePosting(head))}`),
    field(text.account, chain?.network === network ? chain.address : text.noAccount),
  );
  return compare;
}
