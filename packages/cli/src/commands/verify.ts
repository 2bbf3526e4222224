import { type Command, Option } from 'commander';
import { type CallFiles, callCheck } from '../call-hashes.ts';
import { callLines } from '../call-lines.ts';
import { type Exit, UsageError } from '../output.ts';
import { type Add, type VerifyOptions, verifyFile, verifyFiles, verifyOptions } from '../verify-options.ts';

/** `tally verify`: verifies receipts against saved trust, without a network. */
export function verifyCommand(program: Command, finish: (exit: Exit) => void): void {
  verifyOptions(
    program
      .command('verify')
      .argument('<files...>', 'the receipts: files, or - for standard input')
      .summary('verify receipts, offline')
      .description(
        'Verifies receipts of any family, and their anchors. Needs no network: trust comes from bundles saved by `tally trust fetch`. With --rpc the chain is asked as well. Of several files it says one line each.',
      ),
  )
    .option('--evidence <file>', 'the evidence of a metering receipt: leaves or receipts, NDJSON or CSV')
    .option('--request <file>', 'for an inference call: the request body, whose hash is recomputed')
    .option('--response <file>', 'for an inference call: the response body, or the bytes of the stream')
    .addOption(
      new Option(
        '-q, --quiet',
        'say nothing of what is valid and trusted, and one line of all else',
      ).conflicts('json'),
    )
    .addHelpText('after', HELP)
    .action(async (files: string[], options: VerifyOptions & CallFiles) => {
      const [file = '-'] = files;
      if (files.length > 1) assertForMany(files, options);
      const check = await callCheck(options);
      const add: Add = (receipt) => ({
        lines: callLines(receipt),
        ...(check !== null && { check: check(receipt) }),
      });
      const brief = files.length > 1 || options.quiet === true;
      finish(await (brief ? verifyFiles(files, options, add) : verifyFile(file, options, add)));
    });
}

/** Refuses options that can apply to one receipt only. @throws UsageError */
function assertForMany(files: readonly string[], options: VerifyOptions & CallFiles): void {
  const single = (['anchor', 'evidence', 'request', 'response'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (single !== undefined) throw new UsageError(`--${single} is of one receipt: give one file with it.`);
  if (files.filter((file) => file === '-').length > 1)
    throw new UsageError('Standard input can be read once: give - once.');
}

const HELP = `
Exit status, of several files the worst (1, then 2, then 3):
  0  valid, and the issuer is trusted
  1  not valid, or no receipt at all
  2  wrong usage, or a file that can't be read
  3  intact, but the issuer is not trusted

Examples:
  $ tally trust fetch                               once, with the network
  $ tally verify receipt.json                       from then on without
  $ tally verify receipts/*.json --quiet            only what is not good
  $ tally mint --text hello | tally verify -
  $ tally verify receipt.json --anchor anchor.json  that the log has it, offline
  $ tally verify receipt.json --anchor anchor.json --rpc https://rpc.example.com
                                                    and since when
  $ tally verify receipt.json --trust bundle.json   with a bundle from elsewhere
  $ tally verify receipt.json --request req.json --response res.json
                                                    what was asked and answered
  $ tally verify receipt.json --json | jq .valid`;
