import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AnchorTransaction, Witnessed } from '@tallystick/core';
import { checkTrust, parseWitnessPolicy, verifyReceipt } from '@tallystick/sdk';
import type { Browser } from 'playwright-core';
import { builtPage } from '../packages/web/scripts/page.ts';
import { addBundle, launch, open, readShown, verifyText } from '../packages/web/test/browser.ts';
import { afterEachFile } from '../scripts/end-of-file.ts';
import { tally, temporaryFolder } from './process.ts';
import { python, pythonEnv } from './python.ts';

/** The inputs of a verifier, as JSON texts; it gets no service. */
export interface Evidence {
  readonly receipt: string;
  readonly anchor: string;
  readonly bundle: string;
  /** The answers of a chain's node; if absent, the chain is not asked. */
  readonly chain?: Chain;
  /** Text of a witness policy, which the page is not given here. */
  readonly policy?: string;
}

export interface Chain {
  readonly rpcUrl: string;
  /** The transaction; null if the chain has none. */
  readonly transaction: AnchorTransaction | null;
}

/** A verdict in the form that all verifiers give. */
export interface Verdict {
  readonly valid: boolean;
  readonly issuer: { readonly trusted: boolean };
  readonly checks: readonly { readonly name: string; readonly ok: boolean | null }[];
  /** Null without a policy; absent from the page. */
  readonly witnessed?: Witnessed | null;
}

export type Verifier = (evidence: Evidence) => Promise<Verdict>;

export const typescriptSdk: Verifier = async ({ receipt, anchor, bundle, chain, policy }) =>
  verifyReceipt(receipt, {
    trust: await checkTrust(bundle),
    anchor,
    transaction: chain?.transaction,
    witnessPolicy: policy === undefined ? undefined : parseWitnessPolicy(policy),
  });

/** Verifies by the command line, which asks the node itself. */
export const commandLine: Verifier = async ({ receipt, anchor, bundle, chain, policy }) => {
  const folder = temporaryFolder();
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const args = ['verify', file('receipt.json', receipt), '--anchor', file('anchor.json', anchor), '--json'];
  const rpc = chain === undefined ? [] : ['--rpc', chain.rpcUrl];
  const trust = ['--trust', file('bundle.json', bundle)];
  const witnesses = policy === undefined ? [] : ['--witness-policy', file('policy.txt', policy)];
  const { stdout } = await tally([...args, ...trust, ...rpc, ...witnesses], {
    TALLY_HOME: join(folder, 'home'),
  });
  return JSON.parse(stdout);
};

let browser: Promise<Browser> | undefined;
afterEachFile(async () => {
  await (await browser)?.close();
  browser = undefined;
});

/** Verifies by the web page as it is saved to disk. It can't ask a chain. */
export const webPage: Verifier = async ({ receipt, anchor, bundle }) => {
  browser ??= launch();
  const { context, page } = await open(await browser, pathToFileURL(fileURLToPath(builtPage('verify'))).href);
  await context.setOffline(true);
  await addBundle(page, bundle);
  await page.waitForSelector(`text=Version ${JSON.parse(bundle).version}`);
  await page.evaluate(() => {
    for (const panel of document.querySelectorAll('details')) panel.open = true;
  });
  await page.fill('#anchor', anchor);
  await verifyText(page, receipt);
  const shown = await page.evaluate(readShown);
  await context.close();
  if (!('checks' in shown)) throw new Error(shown.title);
  const { valid, trusted, checks } = shown;
  return { valid, issuer: { trusted }, checks };
};

const SCRIPT = `
import json, sys
from datetime import datetime, timezone
from tallystick import NOT_ASKED, AnchorTransaction, check_trust, parse_witness_policy, verify

given = json.load(sys.stdin)
now = datetime.now(timezone.utc)
trust = check_trust(given["bundle"], now=now).issuers
chain = given.get("chain", {"transaction": NOT_ASKED})["transaction"]
if isinstance(chain, dict):
    names = {"chainId": "chain_id", "txHash": "tx_hash", "blockHeight": "block_height",
             "blockTime": "block_time", "from": "sender", "data": "data"}
    chain = AnchorTransaction(**{names[name]: value for name, value in chain.items()})
policy = parse_witness_policy(given["policy"]) if "policy" in given else None
verdict = verify(given["receipt"], now=now, trust=trust, anchor=given["anchor"], transaction=chain, witness_policy=policy)
print(json.dumps(verdict.to_json()))
`;

export const pythonSdk: Verifier = async (evidence) => {
  const child = spawn(python, ['-c', SCRIPT], { env: pythonEnv, stdio: 'pipe' });
  child.stdin.end(JSON.stringify(evidence));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
};
