import type { AnchorLog } from '@tallystick/log';
import { anchorOf, withAnchor } from '../key-effects.ts';
import { keptText, sessionNotFound } from './find-place.ts';
import type { SessionStore } from './session-store.ts';

interface Context {
  readonly store: { readonly sessions: SessionStore };
  readonly log: Pick<AnchorLog, 'find' | 'resolve'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** How the text of a receipt begins that is anchored or is to be: its members are sorted. */
const ANCHORED = '{"anchor_ref"';

/** Lines that are given out at once. */
const CHUNK = 100;

/**
 * The receipts of a session that are still kept, as JSON Lines in chunks of many lines. Those that are anchored carry their anchor.
 * Whoever pays for the key that a session belongs to may read it too.
 * @throws session_not_found for a session of somebody else too; receipt_purged where none is kept
 */
export async function readSession(
  { store, log, clock }: Context,
  { id, name, account }: { readonly id: string; readonly name: string; readonly account: string },
): Promise<AsyncIterable<string>> {
  const now = clock();
  const newest = await store.sessions.newest(id);
  const isOwn = newest?.owner === name || (name === account && newest?.account === account);
  if (newest === null || !isOwn) throw sessionNotFound();
  keptText(newest, now);
  const receipts = store.sessions.list(id, Math.floor(now / 1000));
  return chunks(receipts, async (receipt) => {
    const anchor = receipt.startsWith(ANCHORED) ? await anchorOf(log, receipt) : null;
    return `${anchor === null ? receipt : withAnchor(receipt, anchor)}\n`;
  });
}

async function* chunks(
  receipts: AsyncIterable<{ readonly body: string }>,
  lineOf: (receipt: string) => Promise<string>,
): AsyncGenerator<string, void, undefined> {
  let lines: string[] = [];
  for await (const { body } of receipts) {
    lines.push(await lineOf(body));
    if (lines.length < CHUNK) continue;
    yield lines.join('');
    lines = [];
  }
  yield lines.join('');
}
