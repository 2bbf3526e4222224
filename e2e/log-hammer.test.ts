import { beforeAll, expect, it } from 'vitest';
import { bytesOf, createKey, fsck, type Key, logKeyOf, SOUND, untilAnchored } from './log-client.ts';
import { Leaves, ProofReader } from './log-hammer.ts';
import { rootsOf } from './log-watch.ts';
import { type PostingChain, startPostingChain } from './posting-chain.ts';
import { type Env, type Served, serve, temporaryFolder } from './process.ts';

/** TALLY_HAMMER_LEAVES=1000000 is the long run. */
const LEAVES = Number(process.env.TALLY_HAMMER_LEAVES ?? 20_000);
const WRITERS = 4;
const READERS = 4;
const BATCH = Math.min(5_000, LEAVES / 200);
/** So many proofs are checked while the log grows, by and large. */
const PROOFS = LEAVES / 10;
const TIMEOUT = 300_000 + 5 * LEAVES;

let chain: PostingChain;
let env: Env;
let service: Served;
let key: Key;
beforeAll(async () => {
  const dataDir = temporaryFolder();
  chain = await startPostingChain(dataDir);
  env = { TALLY_DATA_DIR: dataDir, TALLY_ANCHOR_PERIOD_SECONDS: '1', ...chain.env };
  service = await serve(env);
  key = await createKey('enterprise', env);
});

it(`${LEAVES} leaves, written and read at the same time: every proof holds`, {
  timeout: TIMEOUT,
}, async (context) => {
  const leaves = new Leaves(LEAVES);
  const proofs = new ProofReader(service.url, await logKeyOf(service.url));
  let longest = 0;
  const readOld = async (): Promise<void> => {
    const index = leaves.anyPlace();
    await proofs.readProof(index, leaves.hashAt(index));
    await proofs.readResult(index, leaves.hashAt(index));
  };
  const readNew = async (): Promise<void> => {
    const { newest } = leaves;
    const waited = await proofs.readProof(newest, leaves.hashAt(newest));
    longest = Math.max(longest, waited);
  };
  // Reads where the readers fall behind, so that the log grows under both.
  const writer = async (): Promise<void> => {
    while (!leaves.isDone) {
      if (proofs.checked.tlogProof < (leaves.answered / LEAVES) * PROOFS) await readOld();
      else await leaves.placeSome(service.url, key, 2 * BATCH);
    }
  };
  const reader = async (): Promise<void> => {
    while (leaves.answered < LEAVES) {
      await readNew();
      await readOld();
    }
  };

  const began = performance.now();
  await leaves.place(service.url, key, 1);
  await Promise.all([...Array.from({ length: WRITERS }, writer), ...Array.from({ length: READERS }, reader)]);
  const took = performance.now() - began;
  const { tlogProof, anchored } = { ...proofs.checked };
  expect(tlogProof).toBeGreaterThan(PROOFS / 2);
  expect(anchored).toBeGreaterThan(0);

  await untilAnchored(service.url, LEAVES);
  const last = await proofs.readResult(LEAVES - 1, leaves.hashAt(LEAVES - 1));
  const posted = await chain.posted();
  expect(last).toMatchObject({ tree_size: LEAVES, tx_hash: posted.at(-1)?.txHash });

  await context.annotate(
    `${LEAVES} leaves in ${(took / 1000).toFixed(1)} s, with ${tlogProof} tlog-proofs and ${anchored} anchored ` +
      `results checked meanwhile; ${proofs.trees.size} trees seen, ${posted.length} roots posted; a new leaf had its ` +
      `proof after ${Math.round(longest)} ms at most`,
  );
  const hashes = leaves.placed.map((_, index) => bytesOf(leaves.hashAt(index)));
  expect(hashes).toHaveLength(LEAVES);
  const sizes = [...proofs.trees.keys(), ...posted.map(({ size }) => size)];
  const roots = rootsOf(hashes, sizes);
  expect([...proofs.trees]).toEqual([...proofs.trees.keys()].map((size) => [size, roots.get(size)]));
  expect(posted.map(({ size, root }) => [size, root])).toEqual(
    posted.map(({ size }) => [size, roots.get(size)]),
  );
  await service.kill('SIGTERM');
  expect(await fsck(env, chain.anvil.rpcUrl)).toMatchObject({
    ...SOUND,
    leaves: LEAVES,
    postings: posted.length,
  });
});
