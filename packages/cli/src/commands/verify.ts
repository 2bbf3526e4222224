import { type JsonValue, parseTimestamp, TallyError } from '@tallystick/core';
import type { Command } from 'commander';
import { nameOf, readJson, readJsonLines } from '../input.ts';
import { judge } from '../judge.ts';
import { describe, EXIT, type Exit, print, printJson, remark, UsageError } from '../output.ts';
import { rootFingerprintOption, type TrustSources, trustSources } from '../trust-sources.ts';
import { invalidInput, verdictLines } from '../verdict.ts';

interface VerifyOptions {
  readonly trust?: string;
  readonly root?: string;
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
    .option(
      '--trust <bundle>',
      'judge by this bundle alone: a file, or the URL of a service whose bundle is saved',
    )
    .option('--root <fingerprint>', 'accept bundles of this root only (sha256:…)', rootFingerprintOption)
    .option('--evidence <file>', 'the evidence leaves of a metering receipt, one JSON a line')
    .option('--as-of <time>', 'judge as of this UTC time (YYYY-MM-DDThh:mm:ssZ) instead of now')
    .option('--json', 'the verdict as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: VerifyOptions) => finish(await run(file, options)));
}

const HELP = `
Exit status:
  0  valid, and the issuer is trusted
  1  not valid, or no receipt at all
  2  wrong usage, or a file that can't be read
  3  intact, but the issuer is not trusted

Examples:
  $ tally trust fetch                                 once, with the network
  $ tally verify receipt.json                         from then on without
  $ tally mint --text hello | tally verify -
  $ tally verify receipt.json --trust bundle.json     with a bundle from elsewhere
  $ tally verify receipt.json --json | jq .valid`;

async function run(file: string, options: VerifyOptions): Promise<Exit> {
  const now = timeOf(options.asOf);
  const trust = await trustSources(options.trust, { now, root: options.root });
  const receipt = await readReceipt(file, options.json === true);
  if (receipt === undefined) return EXIT.failed;
  const { verdict, vouchedBy } = await judge(receipt, trust.sources, {
    now,
    evidence: evidenceFrom(options.evidence),
  });
  if (options.json) printJson({ ...verdict, trust: account(trust, vouchedBy) });
  else for (const line of verdictLines(verdict, { name: nameOf(file), vouchedBy })) print(line);
  for (const { from, reason } of trust.refused) remark(`The saved bundle of ${from} was not used. ${reason}`);
  const advice =
    verdict.integrity && !verdict.issuer.trusted ? adviceFor(verdict.issuer.status, trust) : null;
  if (advice !== null) remark(advice);
  if (!verdict.valid) return EXIT.failed;
  return verdict.issuer.trusted ? EXIT.ok : EXIT.untrusted;
}

/** The receipt, or undefined after having said why there is none. What is not JSON is no receipt, so not valid. */
async function readReceipt(file: string, json: boolean): Promise<JsonValue | undefined> {
  try {
    return await readJson(file);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    if (json) printJson({ valid: false, error: describe(error) });
    else print(invalidInput(error.message));
    return undefined;
  }
}

/** Trouble with the evidence file is not the receipt's fault. */
function evidenceFrom(path: string | undefined): (() => Iterable<JsonValue>) | undefined {
  if (path === undefined) return undefined;
  return function* leaves() {
    try {
      yield* readJsonLines(path);
    } catch (error) {
      if (!(error instanceof TallyError)) throw error;
      throw new UsageError(error.message, { code: error.code, cause: error });
    }
  };
}

function account({ sources, refused }: TrustSources, vouchedBy: string | null) {
  const bundles = sources.map(({ from, root, bundle }) => ({
    from,
    root,
    version: bundle.version,
    issued_at: bundle.issued_at,
    expires_at: bundle.expires_at,
  }));
  return { vouched_by: vouchedBy, bundles, refused };
}

function adviceFor(status: string, { sources, refused }: TrustSources): string | null {
  if (sources.length === 0) {
    return refused.length > 0
      ? null
      : 'No trust is saved. Fetch it once: tally trust fetch <url of the service>';
  }
  const told = sources.map(({ from, bundle }) => `${from} (${bundle.issued_at})`).join(', ');
  if (status === 'contradicted') {
    return `Judged by ${told}. Where the issuer has changed its keys since, fetch the bundle again: tally trust fetch <url>`;
  }
  return status === 'unknown' ? `Judged by ${told}. To trust another service: tally trust fetch <url>` : null;
}

function timeOf(asOf: string | undefined): number {
  if (asOf === undefined) return Date.now();
  const instant = parseTimestamp(asOf);
  if (instant === null) throw new UsageError('--as-of takes a UTC time such as 2027-01-31T12:00:00Z.');
  return instant.seconds * 1000;
}
