import type { Command } from 'commander';
import { TallyError, trustOf, type Verification, verify, parseTimestamp } from '@tallystick/core';
import { nodeEngine } from '@tallystick/server';
import { readJson, readJsonLines } from '../input.ts';
import { EXIT, type Exit, paint, print, printJson, remark, UsageError } from '../output.ts';
import { loadIssuers } from '../trust-store.ts';

interface VerifyOptions {
  readonly trust?: string;
  readonly evidence?: string;
  readonly asOf?: string;
  readonly json?: boolean;
}

/** `tally verify`: without a network, against saved trust. */
export function verifyCommand(program: Command, finish: (exit: Exit) => void): void {
  program
    .command('verify')
    .summary('verify a receipt, offline')
    .description(
      'Verifies a receipt of any family. Needs no network: trust comes from bundles saved by `tally trust fetch`.',
    )
    .argument('<file>', 'the receipt: a file, or - for standard input')
    .option('--trust <file>', 'a trust bundle to use instead of the saved ones')
    .option('--evidence <file>', 'the evidence leaves of a metering receipt, one JSON a line')
    .option('--as-of <time>', 'judge as of this UTC time (YYYY-MM-DDThh:mm:ssZ) instead of now')
    .option('--json', 'the verdict as JSON')
    .addHelpText('after', '\nExit status: 0 valid and trusted, 1 invalid, 2 wrong usage, 3 intact but issuer not trusted.')
    .action(async (file: string, options: VerifyOptions) => finish(await run(file, options)));
}

async function run(file: string, options: VerifyOptions): Promise<Exit> {
  const now = timeOf(options.asOf);
  const receipt = await readJson(file);
  const evidence = options.evidence === undefined ? undefined : await readJsonLines(options.evidence);
  const { issuers, refused } = await loadIssuers(options.trust, now);
  const verdict = await verify(receipt, { now, trust: trustOf(issuers), evidence, engine: nodeEngine });
  if (verdict.family === null) {
    throw new TallyError('not_a_receipt', `${file === '-' ? 'Standard input' : file} is not a receipt of a known family.`);
  }
  if (options.json) printJson(verdict);
  else show(verdict);
  for (const bundle of refused) remark(`A saved trust bundle was not used. ${bundle}`);
  if (!verdict.valid) return EXIT.failed;
  if (verdict.issuer.trusted) return EXIT.ok;
  if (!options.json && issuers.length === 0) remark('No trust is saved. Fetch it once: tally trust fetch <url of the service>');
  return EXIT.untrusted;
}

function timeOf(asOf: string | undefined): number {
  if (asOf === undefined) return Date.now();
  const instant = parseTimestamp(asOf);
  if (instant === null) throw new UsageError('--as-of takes a UTC time such as 2027-01-31T12:00:00Z.');
  return instant.seconds * 1000;
}

function show(verdict: Verification): void {
  const { issuer } = verdict;
  const headline = !verdict.valid
    ? paint('red', '✗ NOT VALID')
    : issuer.trusted
      ? paint('green', '✓ valid, issuer trusted')
      : paint('yellow', '○ intact, but the issuer is not trusted');
  print(`${paint('bold', headline)}  ${verdict.receipt_id ?? ''}`);
  print(`  ${verdict.family} (${verdict.profile ?? '?'}) · issuer ${issuer.did ?? 'not named'}, ${issuer.status}; key ${issuer.key_state}`);
  const width = Math.max(...verdict.checks.map(({ name }) => name.length));
  for (const { name, ok, detail } of verdict.checks) {
    const mark = ok === null ? paint('dim', '–') : ok ? paint('green', '✓') : paint('red', '✗');
    print(`  ${mark} ${name.padEnd(width)}  ${ok === null ? paint('dim', detail) : detail}`);
  }
}
