import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { cosignCheckpoint, encodePosting, noteKeyHash, toHex, withSignature } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptHashes, lead, newLog, newLogStore, overriding } from '../../server/test/log-fixture.ts';
import { type FsckOptions, fsckLog } from './fsck.ts';
import type { DecodeAttempt } from './fsck-postings.ts';
import { integrate } from './integrator.ts';
import type { PostingAttempt } from './log-store.ts';

const SIZES = [3, 256, 700];
const decodeAttempt: DecodeAttempt = (raw) => {
  const [, txHash = '', nonce = '', data = ''] = /^0x(.{64})(\d\d)(.*)$/.exec(raw) ?? [];
  return data === '' ? null : { txHash: `0x${txHash}`, nonce: Number(nonce), data: `0x${data}` };
};

/** A log of 700 leaves and three checkpoints, two of them posted, the second cosigned. */
async function soundLog() {
  const { store, file } = await newLogStore();
  const log = newLog();
  const witness = newLog('witness.example');
  const epoch = await lead(store);
  let sequence = 0;
  for (const size of SIZES) {
    await acceptHashes(store, 0, size, 10 * (sequence + 1));
    await integrate({ store, log, files: null }, epoch, () => true);
    if (size === 3) continue;
    sequence += 1;
    const checkpoint = await store.newestCheckpoint();
    if (checkpoint === null) throw new Error('There is no checkpoint.');
    const line = await cosignCheckpoint(
      checkpoint.note,
      { name: witness.origin, signer: witness.signer() },
      5,
    );
    await store.putCheckpoint(epoch, { ...checkpoint, note: withSignature(checkpoint.note, line) });
    const txHash = `0x${String(sequence).repeat(64)}`;
    const data = toHex(encodePosting({ origin: log.origin, ...checkpoint }));
    const raw = `0x${txHash.slice(2)}0${sequence}${data}`;
    const attempt: PostingAttempt = {
      sequence,
      nonce: sequence,
      txHash,
      raw,
      maxFeePerGas: '1',
      maxPriorityFeePerGas: '1',
      createdAt: 1,
    };
    const { size: posted, root } = checkpoint;
    await store.queuePosting(
      epoch,
      { sequence, batchAt: 10 * sequence, size: posted, root, nonce: sequence },
      attempt,
    );
    const place = { txHash, blockHeight: 7, blockHash: `0x${'c'.repeat(64)}`, blockTime: 5 };
    await store.movePosting(epoch, sequence, { state: 'finalized', place, finalizedAt: 9 });
  }
  await acceptHashes(store, 700, 710, 40);
  const options: FsckOptions = {
    store,
    log,
    witnesses: [{ name: witness.origin, publicKey: witness.publicKey }],
    decodeAttempt,
  };
  return { options, file, store, log, epoch, witness };
}

test('a sound log has no faults, and its progress is told', async () => {
  const { options, witness } = await soundLog();
  const progress: number[][] = [];
  const report = await fsckLog({
    ...options,
    onProgress: (checked, leaves) => progress.push([checked, leaves]),
  });
  expect(report).toEqual({
    leaves: 710,
    tiles: 4,
    checkpoints: 3,
    postings: 2,
    files: 0,
    witnesses: [
      {
        name: 'witness.example',
        key_id: noteKeyHash('witness.example', 4, witness.publicKey).toString(16).padStart(8, '0'),
        standing: 'configured',
        checkpoints: 2,
        newest: 700,
      },
    ],
    faults: [],
    faultCount: 0,
  });
  expect(progress).toEqual([[256, 710]]);
});

/** The columns that a fault may be in, and the fault's name by the row's key. */
const cells: Record<
  string,
  { table: string; column: string; key: string[]; where: (key: number[]) => RegExp }
> = {
  'a leaf': {
    table: 'leaves',
    column: 'hash',
    key: ['idx'],
    where: ([index = 0]) => new RegExp(`leaf ${index}\\b`),
  },
  'a tile': {
    table: 'tiles',
    column: 'hashes',
    key: ['level', 'idx'],
    where: ([level = 0, index = 0]) => new RegExp(`^tile/${level}/00${index}`),
  },
  'a checkpoint’s root': {
    table: 'checkpoints',
    column: 'root',
    key: ['size'],
    where: ([size]) => new RegExp(`^checkpoint ${size} `),
  },
  'a checkpoint’s note': {
    table: 'checkpoints',
    column: 'note',
    key: ['size'],
    where: ([size]) => new RegExp(`^checkpoint ${size} `),
  },
  'a posting’s root': {
    table: 'postings',
    column: 'root',
    key: ['sequence'],
    where: ([sequence]) => new RegExp(`^posting ${sequence} `),
  },
  'a transaction': {
    table: 'posting_attempts',
    column: 'raw',
    key: ['sequence'],
    where: ([sequence]) => new RegExp(`^posting ${sequence} `),
  },
};

describe('one flipped bit is found and named', () => {
  test.each(Object.entries(cells))('in %s', async (_, { table, column, key, where }) => {
    const { options, file } = await soundLog();
    const database = new DatabaseSync(file);
    const keys = key.join(', ');
    const rows = database
      .prepare(`select ${keys}, ${column} as cell from ${table} order by ${keys} limit 700`)
      .all();
    const update = database.prepare(
      `update ${table} set ${column} = ? where ${key.map((name) => `${name} = ?`).join(' and ')}`,
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(rows.length - 1), fc.nat(), fc.nat(6), async (row, at, bit) => {
        const { cell, ...place } = rows[row] ?? {};
        const values = Object.values(place) as number[];
        const bytes = typeof cell === 'string' ? Buffer.from(cell) : Buffer.from((cell ?? []) as Uint8Array);
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << bit);
        const flipped: SQLInputValue = typeof cell === 'string' ? bytes.toString('utf8') : bytes;
        update.run(flipped, ...values);
        const { faults, witnesses } = await fsckLog(options);
        update.run(cell as SQLInputValue, ...values);
        // A bit of the name or the key id of a cosignature makes of it one by a key that nobody knows: no fault, but told.
        const strangers = witnesses
          .filter(({ standing }) => standing === 'unknown')
          .map(({ name, newest }) => `checkpoint ${newest} is signed by ${name}`);
        const told = faults.map((fault) => `${fault.where} ${fault.what}`);
        expect([...told, ...strangers]).toContainEqual(expect.stringMatching(where(values)));
      }),
      // A space in place of the first digit of a nonce: it was read as the same number once.
      { numRuns: 12, examples: [[0, 66, 4]] },
    );
    database.close();
    expect((await fsckLog(options)).faults).toEqual([]);
  });
});

test.each([
  [
    'a leaf of a full tile, alone',
    `update leaves set hash = zeroblob(32) where idx = 5`,
    ['leaf 5 is not the one that tile/0/000 was made from'],
  ],
  [
    'a tile, alone',
    `update tiles set hashes = cast(x'00' || substr(hashes, 2) as blob) where level = 0 and idx = 1`,
    ['tile/0/001 hash 0 is not that of leaf 256'],
  ],
  ['a lost tile', 'delete from tiles where level = 1', ['tile/1/000.p/2 is missing']],
  [
    'a stray tile',
    `insert into tiles (level, idx, hashes) values (3, 0, zeroblob(32))`,
    ['tile/3/000 is of no tree of 700 leaves'],
  ],
  [
    'a short tile',
    `update tiles set hashes = substr(hashes, 1, 32) where level = 0 and idx = 2`,
    ['tile/0/002.p/188 has 32 bytes, not 6016'],
  ],
  [
    'a lost leaf past the tree',
    'delete from leaves where idx = 705',
    ['leaf 705 is missing', 'leaf 705 is not found by its hash'],
  ],
  ['the count', 'update log_state set next_index = 705', ['leaf 705 is there, but only 705 are counted']],
  [
    'a batch',
    'update leaves set batch_at = 9 where idx = 300',
    ['leaf 300 is of the batch 9, but the leaf before it of 20'],
  ],
  ['the head', `update log_state set head_root = zeroblob(32)`, ['head its root is not that of the leaves']],
  [
    'a posted checkpoint that is gone',
    'delete from checkpoints where size = 256',
    ['posting 1 there is no checkpoint of its 256 leaves'],
  ],
  ['a posting that is gone', 'delete from postings where sequence = 1', ['posting 2 follows posting 0']],
])('%s is named', async (_, sql, expected) => {
  const { options, file } = await soundLog();
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
  const { faults } = await fsckLog(options);
  expect(faults.map(({ where, what }) => `${where} ${what}`)).toEqual(expected);
});

describe('a witness that has left the configuration', () => {
  test('is named as a former one, and its cosignatures are still checked, where its key is kept', async () => {
    const { options, store, witness, file } = await soundLog();
    await store.rememberWitnesses([{ name: witness.origin, publicKey: witness.publicKey }]);
    const later = { ...options, witnesses: [] };
    expect(await fsckLog(later)).toMatchObject({
      faults: [],
      witnesses: [{ name: 'witness.example', standing: 'former', checkpoints: 2, newest: 700 }],
    });
    const database = new DatabaseSync(file);
    // The last character before the padding is of the cosignature's last byte.
    database.exec(`update checkpoints set note = substr(note, 1, length(note) - 3) ||
      case substr(note, -3, 1) when 'A' then 'Q' else 'A' end || substr(note, -2) where size = 700`);
    database.close();
    const { faults, faultCount } = await fsckLog(later);
    expect({ faults, faultCount }).toEqual({
      faults: [{ where: 'checkpoint 700', what: 'the cosignature of witness.example is not valid' }],
      faultCount: 1,
    });
  });

  test('and whose key nobody has kept, is told of, which is no fault', async () => {
    const { options } = await soundLog();
    expect(await fsckLog({ ...options, witnesses: [] })).toMatchObject({
      faultCount: 0,
      witnesses: [{ name: 'witness.example', standing: 'unknown', checkpoints: 2, newest: 700 }],
    });
  });

  test('under a new key has two: the old one is former', async () => {
    const { options, store, witness } = await soundLog();
    await store.rememberWitnesses([{ name: witness.origin, publicKey: witness.publicKey }]);
    const { publicKey } = newLog('witness.example');
    expect(await fsckLog({ ...options, witnesses: [{ name: 'witness.example', publicKey }] })).toMatchObject({
      faultCount: 0,
      witnesses: [{ standing: 'former', checkpoints: 2 }],
    });
  });
});

test('a chain that has not what was posted is named', async () => {
  const { options } = await soundLog();
  const chain = { transaction: async () => null };
  const { faults } = await fsckLog({ ...options, chain });
  expect(faults.map(({ where }) => where)).toEqual(['posting 1', 'posting 2']);
});

test('a log that grows meanwhile is not at fault', async () => {
  const { options, store, log, epoch } = await soundLog();
  let reads = 0;
  const growing = overriding(store, {
    async readLeaves(from, to) {
      reads += 1;
      if (reads === 2) await integrate({ store, log, files: null }, epoch, () => true);
      return store.readLeaves(from, to);
    },
  });
  const { faults } = await fsckLog({ ...options, store: growing });
  expect((await store.head()).size).toBe(710);
  expect(faults).toEqual([]);
});
