import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Anchoring, openAnchoring, openTestChain, PERIOD } from '../../server/test/anchoring.ts';
import { startAnvil, type TestAnvil } from '../../server/test/anvil.ts';
import { checkNotBehind } from './anchorer.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-behind-'));
const finality = { kind: 'confirmations', count: 1 } as const;

let anvil: TestAnvil;
let rig: Anchoring;

beforeAll(async () => {
  anvil = await startAnvil();
  await anvil.rpc('evm_setAutomine', false);
});
afterAll(async () => {
  await anvil.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  rig = await openAnchoring({ anvil, folder });
});
afterEach(() => rig.close());

/** A transaction of the posting account that these data know nothing of. */
async function sendForeign(nonce: number): Promise<void> {
  const data = new Uint8Array();
  const { raw } = await rig.chain.sign(data, nonce, await rig.chain.fees(data));
  expect(await rig.chain.broadcast(raw)).toEqual({ kind: 'accepted' });
  await anvil.rpc('anvil_mine');
}

describe('a log and its chain', () => {
  async function post(): Promise<void> {
    await rig.accept(1);
    await rig.step(PERIOD);
    await anvil.rpc('anvil_mine');
    await rig.step(1);
  }

  it('belong together from the first posting on', async () => {
    await expect(checkNotBehind(rig.log, rig.chain)).resolves.toBeUndefined();
    await post();
    await expect(checkNotBehind(rig.log, rig.chain)).resolves.toBeUndefined();
    await rig.accept(1);
    await rig.step(PERIOD);
    expect(await rig.posting()).toMatchObject({ state: 'broadcast' });
    await expect(checkNotBehind(rig.log, rig.chain)).resolves.toBeUndefined();
  });

  it('an older copy of the data is behind', async () => {
    await post();
    await sendForeign(1);
    await expect(checkNotBehind(rig.log, rig.chain)).rejects.toMatchObject({ code: 'log_behind' });
  });

  it('data without any posting are behind an account that has posted', async () => {
    await sendForeign(0);
    await expect(checkNotBehind(rig.log, rig.chain)).rejects.toMatchObject({ code: 'log_behind' });
  });

  it('a chain that was reset is another chain, and gets nothing', async () => {
    await post();
    const other = await startAnvil();
    const chain = openTestChain({ rpcUrl: other.rpcUrl, secretKey: rig.secretKey, finality });
    await expect(checkNotBehind(rig.log, chain)).rejects.toMatchObject({
      code: 'chain_mismatch',
      message: expect.stringContaining('delete the data directory'),
    });
    await rig.accept(1);
    rig.restart({ chain });
    await rig.step(PERIOD);
    await other.stop();
    expect(rig.anchorer.problem()).toMatch(/The chain is behind the log/);
    expect(await rig.posting()).toMatchObject({ sequence: 1 });
  });

  it('can’t be compared while the node is down', async () => {
    const chain = openTestChain({ rpcUrl: 'http://127.0.0.1:1', secretKey: rig.secretKey, finality });
    await expect(checkNotBehind(rig.log, chain)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });
});
