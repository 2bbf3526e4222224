import { beforeAll, expect, test } from 'vitest';
import { anchorOf, authority, ORIGIN } from '../../../scripts/vectors/anchor-base.ts';
import { NOW } from '../../../scripts/vectors/cases.ts';
import { emitted } from '../../../scripts/vectors/profile-base.ts';
import { nodeEngine } from '../../kit/src/crypto/node-ed25519.ts';
import {
  type AnchorTransaction,
  type JsonObject,
  type JsonValue,
  parseAnchorRef,
  parseCheckpointText,
  parseJson,
  parseNote,
  readAnchoredResult,
  TallyError,
  toHex,
  trustOf,
  verify,
} from '../src/index.ts';
import { bytesMutant, type Sample, structureMutant } from './mutants.ts';
import { newSeed, type Random, randomOf } from './random.ts';
import { transactionOf } from './receipt-vectors.ts';

const MUTATIONS = 24_000;
const trust = trustOf([], [authority]);

interface Anchoring extends Sample {
  readonly receipt: JsonObject;
  /** Of the tree. */
  readonly size: number;
  readonly transaction: AnchorTransaction;
}

/** `document` is an anchored result. */
let samples: Anchoring[];

beforeAll(async () => {
  const receipts = [await emitted('standard'), await emitted('nano')];
  const places = [
    [3, 7],
    [0, 1],
    [256, 257],
    [0, 2],
    [1, 2],
  ] as const;
  const cases = places.flatMap(([index, size]) => receipts.map((receipt) => ({ receipt, index, size })));
  samples = await Promise.all(
    cases.map(async ({ receipt, index, size }) => {
      const { anchor, transaction } = await anchorOf(receipt, { index, size });
      return {
        kind: 'standard',
        document: anchor,
        receipt,
        size,
        transaction: transactionOf(transaction),
      } as const;
    }),
  );
});

/** What an anchored result says that a check vouches for; on the chain also where. */
function claims(anchor: JsonValue, size: number, onChain: boolean): unknown[] {
  const { anchor_ref, merkle_root, merkle_path, tree_size, checkpoint } = readAnchoredResult(anchor);
  const head = checkpoint === undefined ? null : parseCheckpointText(parseNote(checkpoint).text);
  return [
    parseAnchorRef(anchor_ref).index,
    merkle_root,
    merkle_path,
    tree_size ?? size,
    head ? [head.origin, head.size, toHex(head.root)] : [ORIGIN, size, merkle_root.slice('sha256:'.length)],
    onChain && anchor_ref,
  ];
}

/** A transaction that is another, in one member. */
function otherTransaction(transaction: AnchorTransaction, random: Random): AnchorTransaction {
  const other = random.pick(samples).transaction;
  const data = transaction.data.split('');
  const at = 2 + random.below(data.length - 2);
  data[at] = data[at] === '0' ? '1' : '0';
  return {
    ...transaction,
    ...random.pick<Partial<AnchorTransaction>>([
      { chainId: transaction.chainId + random.pick([-1, 1, 0.5]) },
      { txHash: transaction.txHash.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) },
      { blockHeight: transaction.blockHeight + random.pick([-1, 1, 0.5]) },
      { from: transaction.from.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) },
      { data: data.join('') },
      { data: transaction.data.slice(0, random.below(transaction.data.length)) },
      ...(other.data === transaction.data ? [] : [{ data: other.data }]),
    ]),
  };
}

async function judged(
  { receipt }: Anchoring,
  anchor: JsonValue,
  transaction: AnchorTransaction | undefined,
): Promise<Record<string, boolean | null>> {
  const options = { now: Date.parse(NOW), trust, engine: nodeEngine };
  const { valid, checks } = await verify(receipt, { ...options, anchor, transaction });
  return { valid, ...Object.fromEntries(checks.map(({ name, ok }) => [name, ok])) };
}

const proved = { valid: true, anchor: true, anchor_checkpoint: true };

test('the samples are proved, on the chain and offline', async () => {
  for (const sample of samples) {
    const { document, transaction } = sample;
    const onChain = await judged(sample, document, transaction);
    expect(onChain).toMatchObject({ ...proved, anchor_transaction: true });
    expect(await judged(sample, document, undefined)).toMatchObject({ ...proved, anchor_transaction: null });
  }
});

function parsed(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof TallyError) return undefined;
    throw error;
  }
}

test(`${MUTATIONS} mutations of anchored results: none says another thing and is proved, none crashes`, async () => {
  const seed = newSeed();
  const random = randomOf(seed);
  const counts = { 'not JSON': 0, 'proved, unchanged': 0, 'not proved': 0, refused: 0 };
  const accepted: unknown[] = [];
  for (let index = 0; index < MUTATIONS; index++) {
    const sample = random.pick(samples);
    const mutate = random.pick([bytesMutant, structureMutant, structureMutant, structureMutant]);
    const mutant = parsed(mutate(sample, samples, random));
    if (mutant === undefined) {
      counts['not JSON'] += 1;
      continue;
    }
    const transaction = random.below(3) > 0 ? sample.transaction : undefined;
    const found = await judged(sample, mutant, transaction);
    const { anchor, anchor_checkpoint, anchor_transaction } = found;
    if (!found.valid) counts.refused += 1;
    else if (!anchor || !(transaction ? anchor_transaction : anchor_checkpoint)) counts['not proved'] += 1;
    else {
      const said = claims(mutant, sample.size, transaction !== undefined);
      const meant = claims(sample.document, sample.size, transaction !== undefined);
      if (JSON.stringify(said) === JSON.stringify(meant)) counts['proved, unchanged'] += 1;
      else accepted.push({ index, seed, mutant });
    }
  }
  console.log(`anchor mutations: seed ${seed}`, counts);
  expect(accepted).toEqual([]);
  expect(counts.refused).toBeGreaterThan(MUTATIONS / 3);
  expect(counts['proved, unchanged']).toBeGreaterThan(MUTATIONS / 100);
});

test('another transaction proves nothing', async () => {
  const seed = newSeed();
  const random = randomOf(seed);
  for (let index = 0; index < 2_000; index++) {
    const sample = random.pick(samples);
    const transaction = otherTransaction(sample.transaction, random);
    const { anchor_transaction } = await judged(sample, sample.document, transaction);
    expect({ index, seed, transaction, anchor_transaction }).toMatchObject({ anchor_transaction: false });
  }
});
