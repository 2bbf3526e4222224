import { describe, expect, it } from 'vitest';
import { Matcher, type Move } from './match.ts';

const move = (txHash: string, amount: bigint, incoming = amount > 0n ? 1 : 0): Move => ({
  txHash,
  height: 1,
  incoming,
  amount,
});
const posting = (id: string, amount: bigint, ordinal: number | null = null) => ({
  id,
  line: 1,
  amount,
  ordinal,
});

/** Calls all in the given order, and in the opposite one. */
function inBothOrders(steps: readonly ((matcher: Matcher) => void)[]): Matcher[] {
  return [steps, steps.toReversed()].map((order) => {
    const matcher = new Matcher();
    for (const step of order) step(matcher);
    return matcher;
  });
}

const held = ({ moves, postings }: Matcher) => ({ moves: [...moves.keys()], postings: [...postings.keys()] });

describe('matching what the chain moved with what the ledger posted', () => {
  it('holds nothing of what agrees, whichever side comes first', () => {
    const matchers = inBothOrders([
      (one) => one.addMove(move('in', 5n)),
      (one) => one.addMove(move('twice', 12n, 2)),
      (one) => one.addMove(move('out', -3n)),
      (one) => one.addMove(move('between treasuries', 0n, 1)),
      (one) => one.addPosting('in', posting('a', 5n, 0)),
      (one) => one.addPosting('twice', posting('b', 8n, 1)),
      (one) => one.addPosting('twice', posting('c', 4n, 0)),
      (one) => one.addPosting('out', posting('d', -3n)),
    ]);
    for (const matcher of matchers) expect(held(matcher)).toEqual({ moves: [], postings: [] });
  });

  it('holds what one side alone has, and what differs', () => {
    const matchers = inBothOrders([
      (one) => one.addMove(move('unposted', -3n)),
      (one) => one.addMove(move('more', 5n)),
      (one) => one.addMove(move('half', 12n, 2)),
      (one) => one.addMove(move('no such transfer', 5n)),
      (one) => one.addPosting('more', posting('a', 4n, 0)),
      (one) => one.addPosting('half', posting('b', 8n, 1)),
      (one) => one.addPosting('no such transfer', posting('c', 5n, 1)),
      (one) => one.addPosting('unmoved', posting('d', 9n)),
    ]);
    for (const matcher of matchers) {
      const { moves, postings } = held(matcher);
      expect(moves.toSorted()).toEqual(['half', 'more', 'no such transfer', 'unposted']);
      expect(postings).toEqual(['unmoved']);
    }
  });

  it('holds a second posting of what agreed already, whether the chain showed it before or after', () => {
    const payout = (one: Matcher) => one.addPosting('out', posting('payout', -3n));
    const owner = (one: Matcher) => one.addPosting('out', posting('owner', -3n));
    const moved = (one: Matcher) => one.addMove(move('out', -3n));
    for (const order of [
      [moved, payout, owner],
      [payout, moved, owner],
      [payout, owner, moved],
    ]) {
      const matcher = new Matcher();
      for (const step of order) step(matcher);
      expect(matcher.held()).toEqual({
        pairs: [],
        unmatched: [{ txHash: 'out', postings: [posting('owner', -3n)] }],
      });
    }
  });

  it('goes on from what an earlier one held', () => {
    const earlier = new Matcher();
    earlier.addMove(move('half', 12n, 2));
    earlier.addPosting('half', posting('a', 8n, 1));
    earlier.addPosting('early', posting('b', 5n, 0));
    const matcher = new Matcher(earlier.held());
    matcher.addPosting('half', posting('c', 4n, 0));
    matcher.addMove(move('early', 5n));
    expect(held(matcher)).toEqual({ moves: [], postings: [] });
  });
});
