import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkCosignature, cosignCheckpoint, signCheckpoint } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nodeEngine } from '../../kit/src/crypto/node-ed25519.ts';
import { acceptHashes, lead, newLog, newLogStore } from '../../server/test/log-fixture.ts';
import { createCosigner } from './cosigner.ts';
import { integrate } from './integrator.ts';
import type { TreeHead } from './log-store.ts';
import { TreeReader } from './tree-reader.ts';
import { storeTiles } from './tree-source.ts';
import { createWitness } from './witness.ts';
import { formatAddCheckpoint, parseAddCheckpoint } from './witness-protocol.ts';
import { openWitnessState } from './witness-state.ts';

const quiet = {
  clock: () => 0,
  logger: { info() {}, warn() {} },
  metrics: { published() {}, failed() {} },
};

function stateFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-witness-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'state', 'witness.json');
}

/** A log, a witness of it, and a `fetch` that reaches the witness without a network. */
async function setting(told = quiet) {
  const { store } = await newLogStore();
  const log = newLog();
  const epoch = await lead(store);
  const key = newLog('witness.example');
  const path = stateFile();
  const start = async () =>
    createWitness({
      name: key.origin,
      signers: [key.signer()],
      logs: [log],
      state: await openWitnessState(path),
      clock: () => 77_000,
    });
  let witness = await start();
  const reach: { down: boolean; answers: number[] } = { down: false, answers: [] };
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    if (reach.down) throw new TypeError('fetch failed');
    const answer = await witness(new Request(input, init));
    reach.answers.push(answer.status);
    return answer;
  };
  const config = { name: key.origin, publicKey: key.publicKey, url: 'https://witness.example/w' };
  const tree = new TreeReader(storeTiles(store));
  const cosignerOf = (of: typeof store, reader: TreeReader) =>
    createCosigner({ store: of, log, tree: reader, witnesses: [config], fetch, ...told });
  const grow = async (size: number) => {
    await acceptHashes(store, 0, size);
    await integrate({ store, log, files: null }, epoch, () => true);
  };
  const restart = async () => {
    witness = await start();
  };
  const add = async (body: string) =>
    witness(new Request('https://witness.example/add-checkpoint', { method: 'POST', body }));
  return {
    store,
    log,
    epoch,
    config,
    tree,
    cosignerOf,
    cosigner: cosignerOf(store, tree),
    grow,
    reach,
    restart,
    add,
    path,
  };
}

test('checkpoints are cosigned as the log grows, also after witness and log were started again', async () => {
  const { store, epoch, config, tree, cosignerOf, cosigner, grow, restart, reach } = await setting();
  await cosigner.step(epoch);
  for (const size of [1, 5, 300]) {
    await grow(size);
    await cosigner.step(epoch);
    const { note } = (await store.newestCheckpoint()) ?? { note: '' };
    expect(await checkCosignature(note, config, nodeEngine)).toBe(77);
    await restart();
  }
  expect(reach.answers).toEqual([409, 200, 200, 200]);
  await cosigner.step(epoch);
  expect(reach.answers).toHaveLength(4);
  await grow(301);
  await cosignerOf(store, tree).step(epoch);
  expect(reach.answers.slice(4)).toEqual([409, 200]);
});

test('a witness that is away delays nothing, is counted, told once, and asked more and more seldom', async () => {
  const time = { now: 0 };
  const lines: string[] = [];
  const failed: string[] = [];
  const log = (_: object, message: string) => void lines.push(message);
  const { store, epoch, config, cosigner, grow, reach } = await setting({
    clock: () => time.now,
    logger: { info: log, warn: log },
    metrics: { published() {}, failed: (part: string) => void failed.push(part) },
  } as typeof quiet);
  await grow(3);
  reach.down = true;
  await cosigner.checkNotBehind();
  for (; time.now < 300_000; time.now += 1_000) await cosigner.step(epoch);
  expect(failed).toEqual(Array(10).fill('cosign'));
  expect(lines).toEqual(['a witness did not cosign']);

  reach.down = false;
  time.now += 60_000;
  await cosigner.step(epoch);
  expect(await checkCosignature((await store.newestCheckpoint())?.note ?? '', config, nodeEngine)).toBe(77);
  expect(lines).toEqual(['a witness did not cosign', 'a witness cosigns again']);
});

describe('a restored backup', () => {
  test.each([0, 2])('of %i leaves is refused when a witness has seen more', async (size) => {
    const { cosigner, cosignerOf, grow, epoch, log } = await setting();
    await grow(5);
    await cosigner.step(epoch);
    const { store: older } = await newLogStore();
    await acceptHashes(older, 0, size);
    await integrate({ store: older, log, files: null }, await lead(older), () => true);
    await expect(cosignerOf(older, new TreeReader(storeTiles(older))).checkNotBehind()).rejects.toThrow(
      expect.objectContaining({ code: 'log_behind' }),
    );
  });

  test.each([5, 9])('that has grown another way to %i leaves is a fork', async (size) => {
    const { cosigner, cosignerOf, grow, epoch, log } = await setting();
    await grow(5);
    await cosigner.step(epoch);
    const { store: other } = await newLogStore();
    await acceptHashes(other, 100, 100 + size);
    const otherEpoch = await lead(other);
    await integrate({ store: other, log, files: null }, otherEpoch, () => true);
    const forked = expect.objectContaining({ code: 'log_corrupted' });
    await expect(cosignerOf(other, new TreeReader(storeTiles(other))).step(otherEpoch)).rejects.toThrow(
      forked,
    );
  });
});

describe('add-checkpoint', () => {
  const hash = (byte: number) => new Uint8Array(32).fill(byte);

  async function note(size: number, by = newLog()): Promise<string> {
    return signCheckpoint({ origin: by.origin, size, root: hash(size) }, by.signer());
  }

  test('answers as the specification says', async () => {
    const { log, add, store, grow, tree } = await setting();
    await grow(2);
    const two = (await store.newestCheckpoint())?.note ?? '';
    await grow(5);
    const five = (await store.newestCheckpoint())?.note ?? '';
    const proof = await tree.consistencyProof(2, 5);
    const ask = (old: number, checkpoint: string, path: readonly Uint8Array[] = []) =>
      add(formatAddCheckpoint({ old, proof: path, checkpoint }));
    const statuses = async (answers: readonly Promise<Response>[]) =>
      (await Promise.all(answers)).map(({ status }) => status);

    expect(
      await statuses([ask(0, await note(1, newLog('unknown.example'))), ask(0, await note(1)), ask(3, two)]),
    ).toEqual([404, 403, 400]);
    expect(
      await statuses([
        add('old 0\n'),
        add(`old 00\n\n${two}`),
        add(`old 0\nAAAA\n\n${two}`),
        add('x'.repeat(100_000)),
      ]),
    ).toEqual([400, 400, 400, 400]);
    expect(await statuses([ask(0, two, [hash(1)]), ask(1, two)])).toEqual([422, 409]);
    const first = await ask(0, two);
    expect([first.status, await first.text()]).toEqual([
      200,
      expect.stringMatching(/^— witness\.example \S+\n$/),
    ]);
    const stale = await ask(0, five);
    expect([stale.status, stale.headers.get('content-type'), await stale.text()]).toEqual([
      409,
      'text/x.tlog.size',
      '2\n',
    ]);
    expect(await statuses([ask(2, five), ask(2, five, [hash(1), ...proof.slice(1)])])).toEqual([422, 422]);
    expect((await ask(2, five, proof)).status).toBe(200);
    const fork = await note(5, log);
    const refused = await ask(5, fork);
    expect([refused.status, await refused.text()]).toEqual([409, '5\n']);
    expect(await statuses([ask(5, five), ask(2, two)])).toEqual([200, 409]);
  });

  test('two requests at once never take the witness back', async () => {
    const { add, store, grow, tree, path } = await setting();
    await grow(2);
    const two = (await store.newestCheckpoint())?.note ?? '';
    await add(formatAddCheckpoint({ old: 0, proof: [], checkpoint: two }));
    const bodies: string[] = [];
    for (const size of [9, 4]) {
      await grow(size);
      const { size: now, note: checkpoint } = (await store.newestCheckpoint()) ?? { size: 0, note: '' };
      bodies.push(formatAddCheckpoint({ old: 2, proof: await tree.consistencyProof(2, now), checkpoint }));
    }
    const answers = await Promise.all(bodies.map(add));
    expect(answers.map(({ status }) => status)).toEqual([200, 409]);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ 'log.example': { size: 9 } });
  });

  test('other paths and methods are refused', async () => {
    const { add: _, ...rest } = await setting();
    const witness = createWitness({
      name: 'w',
      signers: [rest.log.signer()],
      logs: [],
      state: { read: async () => null, write: async () => {} },
      clock: () => 0,
    });
    expect((await witness(new Request('https://w.example/other', { method: 'POST' }))).status).toBe(404);
    expect((await witness(new Request('https://w.example/add-checkpoint'))).status).toBe(405);
  });

  test('a request reads back as it was written, and no other text does', () => {
    const request = fc.record({
      old: fc.maxSafeNat(),
      proof: fc.array(
        fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
        { maxLength: 63 },
      ),
      checkpoint: fc.string({ minLength: 1 }),
    });
    fc.assert(
      fc.property(request, (asked) => {
        expect(parseAddCheckpoint(formatAddCheckpoint(asked))).toEqual(asked);
      }),
    );
    const line = `${Buffer.alloc(32).toString('base64')}\n`;
    for (const text of [
      '',
      'old -1\n\nx',
      'old 01\n\nx',
      `old 1\n${line.repeat(64)}\nx`,
      `old 1\n${line.slice(1)}\nx`,
      'old 1\n\n',
      'old 9007199254740992\n\nx',
      `old 1\n${'A'.repeat(42)}B=\n\nx`,
    ]) {
      expect(() => parseAddCheckpoint(text), text).toThrow(expect.objectContaining({ code: 'note_invalid' }));
    }
  });
});

test('a state that is not readable is refused, not forgotten', async () => {
  const { grow, add, store, path } = await setting();
  await grow(1);
  await add(
    formatAddCheckpoint({ old: 0, proof: [], checkpoint: (await store.newestCheckpoint())?.note ?? '' }),
  );
  const reopened: TreeHead | null = await (await openWitnessState(path)).read('log.example');
  expect(reopened?.size).toBe(1);
  for (const text of [
    '',
    '{"log.example": {"size": -1, "root": ""}}',
    '{"log.example": {"size": 1, "root": "00"}}',
  ]) {
    writeFileSync(path, text);
    await expect(openWitnessState(path)).rejects.toThrow(expect.objectContaining({ code: 'invalid_field' }));
  }
});

test('a cosignature of another key is passed over', async () => {
  const { store, log, config, tree, epoch, grow } = await setting();
  await grow(1);
  const impostor = newLog('witness.example');
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const { checkpoint } = parseAddCheckpoint(await new Request(input, init).text());
    return new Response(
      `not a line\n${await cosignCheckpoint(checkpoint, { name: 'witness.example', signer: impostor.signer() }, 1)}`,
    );
  };
  const before = await store.newestCheckpoint();
  await createCosigner({ store, log, tree, witnesses: [config], fetch, ...quiet }).step(epoch);
  expect(await store.newestCheckpoint()).toEqual(before);
});
