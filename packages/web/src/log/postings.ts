import { copyButton, element, fromTemplate } from '../dom.ts';
import { logProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import type { LogPosting } from './documents.ts';
import { clockTime, count, shortened } from './numbers.ts';

/** Draws the roots posted to the chain, or says why there are none. */
export function postingsOf(postings: readonly LogPosting[], hasChain: boolean): Node {
  const { text, columns } = prose;
  if (postings.length === 0) {
    const message = hasChain ? text.noPostingsMessage : text.noPostingsChain;
    return fromTemplate('t-empty', { title: text.noPostings, message });
  }
  return tableOf(
    text.postingsCaption,
    [columns.sequence, columns.time, columns.state, columns.size, columns.block, columns.tx, columns.root],
    postings.map((posting) => [
      `${posting.sequence}`,
      posting.block_time === null ? text.notYet : clockTime(posting.block_time),
      text.states[posting.state],
      count(posting.tree_size),
      posting.block_height === null ? text.notYet : count(posting.block_height),
      posting.tx_hash === null ? text.notYet : hashCell(posting.tx_hash, columns.tx),
      hashCell(posting.merkle_root.replace('sha256:', ''), columns.root),
    ]),
    [1, 2, 5, 6],
  );
}

/** Draws the ends of a hash, with a button that copies the whole. */
function hashCell(hash: string, what: string): HTMLElement {
  const shown = element('code', '', shortened(hash));
  shown.title = hash;
  return element('span', 'hash', shown, copyButton(hash, what));
}
