import { parseVerifierKey, verifierKey, verifyFork } from '@tallystick/core';
import { expect, test } from 'vitest';
import { acceptHashes, lead, newLog, newLogStore } from '../../server/test/log-fixture.ts';
import { integrate } from './integrator.ts';
import type { LogSigner } from './log-key.ts';
import type { LogStore } from './log-store.ts';
import { followLog } from './monitor.ts';
import { publicTile } from './public-tiles.ts';

/** What a web server would answer for a log. */
function serve(store: LogStore, hidden: (path: string) => boolean = () => false) {
  return async (input: string | URL | Request): Promise<Response> => {
    const path = new Request(input).url.replace('https://log.example/', '');
    if (hidden(path)) return new Response(null, { status: 404 });
    if (path === 'checkpoint')
      return new Response((await store.newestCheckpoint())?.note ?? '', { status: 200 });
    const tile = await publicTile(store, null, path);
    return tile === null ? new Response(null, { status: 404 }) : new Response(Uint8Array.from(tile));
  };
}

async function logOf(log: LogSigner, from: number, to: number) {
  const { store } = await newLogStore();
  const epoch = await lead(store);
  const grow = async (size: number) => {
    await acceptHashes(store, from, from + size);
    while ((await integrate({ store, log, files: null }, epoch, () => true)).kind === 'signed');
  };
  await grow(to);
  return { store, grow };
}

function monitorOf(log: LogSigner) {
  const kept: { note: string | null } = { note: null };
  const state = {
    load: async () => kept.note,
    save: async (note: string) => {
      kept.note = note;
    },
  };
  const vkey = parseVerifierKey(verifierKey(log.origin, log.publicKey));
  return {
    kept,
    look: (store: LogStore, hidden?: (path: string) => boolean, others?: readonly string[]) =>
      followLog({ fetch: serve(store, hidden), url: 'https://log.example', vkey, state, others }),
  };
}

test('a log that grows is followed by its checkpoint and tiles alone', async () => {
  const log = newLog();
  const { store, grow } = await logOf(log, 0, 3);
  const { look } = monitorOf(log);
  const kinds: string[] = [];
  for (const size of [3, 3, 300, 70_000]) {
    await grow(size);
    kinds.push((await look(store)).kind);
  }
  expect(kinds).toEqual(['first', 'unchanged', 'grown', 'grown']);
});

test('a full tile stands in for a partial one that is gone', async () => {
  const log = newLog();
  const { store, grow } = await logOf(log, 0, 200);
  const { look } = monitorOf(log);
  await look(store);
  await grow(512);
  expect((await look(store, (path) => path === 'tile/0/000.p/200')).kind).toBe('grown');
});

test.each([
  ['fork', 300],
  ['fork', 400],
  ['rollback', 299],
])('a %s at %i leaves is seen, with both notes, and the earlier is kept', async (kind, size) => {
  const log = newLog();
  const { store } = await logOf(log, 0, 300);
  const { look, kept } = monitorOf(log);
  await look(store);
  const earlier = kept.note;
  const { store: other } = await logOf(log, 1000, size);
  const later = (await other.newestCheckpoint())?.note;
  const found = await look(other);
  expect(found).toMatchObject({ kind, earlier, later });
  const proof = 'proof' in found ? found.proof : null;
  expect(proof === null ? null : (await verifyFork(proof)).kind).toBe(
    kind === 'rollback' ? null : size === 300 ? 'roots' : 'subtrees',
  );
  expect(kept.note).toBe(earlier);
});

test('what others were shown is compared too, and a fork against it is proved', async () => {
  const log = newLog();
  const { store, grow } = await logOf(log, 0, 5);
  const others = [(await store.newestCheckpoint())?.note ?? ''];
  await grow(9);
  const { look, kept } = monitorOf(log);
  expect((await look(store, undefined, others)).kind).toBe('first');
  const { store: another } = await logOf(log, 1000, 7);
  const shown = (await another.newestCheckpoint())?.note ?? '';
  const before = kept.note;
  const found = await look(store, undefined, [...others, shown]);
  expect(found).toMatchObject({ kind: 'fork', earlier: shown, later: before });
  expect((await verifyFork('proof' in found ? found.proof : null)).kind).toBe('subtrees');
  const { store: longer } = await logOf(log, 0, 12);
  const ahead = (await longer.newestCheckpoint())?.note ?? '';
  expect((await look(store, undefined, [ahead])).kind).toBe('rollback');
});

test('what is not the log’s checkpoint, or not there, is an error', async () => {
  const log = newLog();
  const { store, grow } = await logOf(log, 0, 10);
  const { look, kept } = monitorOf(log);
  const { store: foreign } = await logOf(newLog(), 0, 10);
  await expect(look(foreign)).rejects.toThrow(
    expect.objectContaining({ code: 'checkpoint_signature_invalid' }),
  );
  expect(kept.note).toBeNull();
  await look(store);
  await grow(20);
  await expect(look(store, (path) => path.startsWith('tile/'))).rejects.toThrow(
    expect.objectContaining({ code: 'unavailable' }),
  );
});
