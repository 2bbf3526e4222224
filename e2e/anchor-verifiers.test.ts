import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, type JsonObject, toHex, witnessKey } from '@tallystick/core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Chain,
  commandLine,
  type Evidence,
  pythonSdk,
  typescriptSdk,
  type Verdict,
  type Verifier,
  webPage,
} from './anchor-verifiers.ts';
import { createKey, getJson, until } from './log-client.ts';
import { type PostingChain, startPostingChain } from './posting-chain.ts';
import { post, serve, temporaryFolder } from './process.ts';
import { pythonMissing } from './python.ts';

interface Anchored {
  /** As it was minted: with the pending reference, without the result. */
  readonly receipt: string;
  readonly anchor: JsonObject & { readonly tx_hash: string };
}

let chain: PostingChain;
let bundle: string;
/** That of both witnesses of the development service. */
let policy: string;
let one: Anchored;
let other: Anchored;

/** Two receipts under two roots, and the trust: all that is left when the service has ended. */
beforeAll(async () => {
  const dataDir = temporaryFolder();
  chain = await startPostingChain(dataDir);
  const env = { TALLY_DATA_DIR: dataDir, TALLY_ANCHOR_PERIOD_SECONDS: '1', ...chain.env };
  const service = await serve(env);
  const key = await createKey('pro', env);
  const anchored = async (input: string): Promise<Anchored> => {
    const emitted = await post(`${service.url}/v1/receipt/emit`, { input, anchor: true }, key);
    const { receipt } = JSON.parse(emitted.text);
    const { anchor } = await until(
      () => getJson(`${service.url}/v1/receipt/${receipt.id}`),
      (read) => 'anchor' in read,
    );
    return { receipt: emitted.text, anchor: anchor as Anchored['anchor'] };
  };
  one = await anchored('order 1');
  other = await anchored('order 2');
  bundle = await (await fetch(`${service.url}/.well-known/trust.json`)).text();
  policy = readFileSync(join(dataDir, 'witness-policy.txt'), 'utf8');
  await service.kill('SIGTERM');
});

const evidence = (changes: Partial<Evidence> = {}): Evidence => ({
  receipt: one.receipt,
  anchor: JSON.stringify(one.anchor),
  bundle,
  ...changes,
});

const asked = async (txHash: string): Promise<Chain> => ({
  rpcUrl: chain.anvil.rpcUrl,
  transaction: await chain.transaction(txHash),
});

function inShort({ valid, issuer, checks }: Verdict): Record<string, boolean | null> {
  const anchors = checks.filter(({ name }) => name.startsWith('anchor')).map(({ name, ok }) => [name, ok]);
  return { valid, trusted: issuer.trusted, ...Object.fromEntries(anchors) };
}

const OFFLINE = {
  valid: true,
  trusted: true,
  anchor: true,
  anchor_checkpoint: true,
  anchor_transaction: null,
};
const PROVED = { ...OFFLINE, anchor_transaction: true };

const flipped = (hex: string): string => {
  const bytes = fromHex(hex);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return toHex(bytes);
};

const verifiers: [string, Verifier, string | null][] = [
  ['the command line', commandLine, null],
  ['the page', webPage, null],
  ['the TypeScript SDK', typescriptSdk, null],
  [`the Python SDK${pythonMissing === null ? '' : ` (${pythonMissing})`}`, pythonSdk, pythonMissing],
];

describe.each(verifiers)('when the service is gone, %s', (_, verify, missing) => {
  it.skipIf(missing !== null)('verifies an anchored receipt offline', async () => {
    expect(inShort(await verify(evidence()))).toEqual(OFFLINE);
  });

  it.skipIf(missing !== null)(
    'refuses the anchor of another receipt, and one with a flipped bit',
    async () => {
      const merkle_root = `sha256:${flipped((one.anchor.merkle_root as string).replace('sha256:', ''))}`;
      for (const anchor of [other.anchor, { ...one.anchor, merkle_root }]) {
        const verdict = await verify(evidence({ anchor: JSON.stringify(anchor) }));
        expect(inShort(verdict)).toMatchObject({ valid: false, anchor: false });
      }
    },
  );
});

describe.each(verifiers.filter(([, verify]) => verify !== webPage))(
  'with a witness policy, %s',
  (_, verify, missing) => {
    it.skipIf(missing !== null)('names who cosigned, and says whether they are enough', async () => {
      const by = ['local-witness-1', 'local-witness-2'];
      const { witnessed, issuer } = await verify(evidence({ policy }));
      expect({ witnessed, issuer }).toMatchObject({
        witnessed: { required: 2, satisfied: true, by, of: 2 },
        issuer: { trusted: true },
      });
      const other = witnessKey(
        'other.example',
        fromHex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'),
      );
      const lacking = policy.replace(/^(witness local-witness-2) \S+$/m, `$1 ${other}`);
      expect((await verify(evidence({ policy: lacking }))).witnessed).toEqual({
        required: 2,
        satisfied: false,
        by: ['local-witness-1'],
        of: 2,
      });
      expect((await verify(evidence())).witnessed).toBeNull();
    });
  },
);

describe.each(verifiers.filter(([, verify]) => verify !== webPage))(
  'with a node of the chain, %s',
  (_, verify, missing) => {
    it.skipIf(missing !== null)(
      'verifies it against the transaction of its root, and of no other',
      async () => {
        expect(inShort(await verify(evidence({ chain: await asked(one.anchor.tx_hash) })))).toEqual(PROVED);
        // A true posting of the same log, of another root.
        const { tx_hash, block_height } = other.anchor;
        const anchor_ref = `urn:anchor:devnet:${block_height as number}:${tx_hash}:0`;
        const anchor = JSON.stringify({ ...one.anchor, tx_hash, block_height, anchor_ref });
        const verdict = await verify(evidence({ anchor, chain: await asked(tx_hash) }));
        expect(inShort(verdict)).toEqual({
          ...OFFLINE,
          valid: false,
          trusted: false,
          anchor_transaction: false,
        });
      },
    );
  },
);
