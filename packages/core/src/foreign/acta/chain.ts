import type { JsonObject } from '../../json/types.ts';
import { type Check, failed, passed, unchecked } from '../../receipts/family.ts';
import { LINK_SCOPES, type LinkScope, linkOf, linksTo, sequenceOf } from './forms.ts';

const SCOPES = Object.keys(LINK_SCOPES) as LinkScope[];

/**
 * Checks that each receipt of a list names the one before it, and that their numbers leave no gap. Producers hash
 * different parts of a receipt; one rule must explain every link of a list.
 */
export function checkChain(receipts: readonly JsonObject[]): readonly Check[] {
  const [first] = receipts;
  if (first === undefined) return [];
  return [linkCheck(receipts, first), ...sequenceCheck(receipts)];
}

function linkCheck(receipts: readonly JsonObject[], first: JsonObject): Check {
  const later = receipts.slice(1);
  const begins =
    linkOf(first) === null ? 'from its first receipt' : 'though what comes before the first one is not given';
  if (later.length === 0) {
    return unchecked(
      'chain',
      linkOf(first) === null ? 'It names no receipt before it.' : 'The receipt before it is not given.',
    );
  }
  if (receipts.every((one) => linkOf(one) === null)) {
    return unchecked('chain', 'The receipts do not name each other: nobody can see whether one is missing.');
  }
  const broken = SCOPES.map((scope) => ({ scope, at: firstBreak(receipts, scope) }));
  const whole = broken.find(({ at }) => at === null);
  if (whole !== undefined) {
    return passed('chain', `Each receipt names the one before it (SHA-256 of ${whole.scope}), ${begins}.`);
  }
  const at = Math.max(...broken.map((one) => one.at ?? 0));
  const detail = `Receipt ${at + 1} does not name receipt ${at}: one was changed, moved, added or left out between them.`;
  return failed('chain', detail);
}

/** Index of the first receipt whose link is not to the one before it; null if there is none. */
function firstBreak(receipts: readonly JsonObject[], scope: LinkScope): number | null {
  let before: JsonObject | undefined;
  for (const [index, receipt] of receipts.entries()) {
    if (before !== undefined && !linksTo(before, scope).includes(linkOf(receipt) ?? '')) return index;
    before = receipt;
  }
  return null;
}

function sequenceCheck(receipts: readonly JsonObject[]): readonly Check[] {
  const numbers = receipts.map(sequenceOf);
  if (receipts.length < 2 || numbers.every((number) => number === null)) return [];
  const at = numbers.findIndex(
    (number, index) => index > 0 && (number === null || number !== (numbers[index - 1] ?? NaN) + 1),
  );
  return [
    at < 0
      ? passed('sequence', `The numbers run from ${numbers[0]} to ${numbers.at(-1)} without a gap.`)
      : failed('sequence', `Receipt ${at + 1} has the number ${numbers[at]}, after ${numbers[at - 1]}.`),
  ];
}
