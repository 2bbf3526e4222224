import type { Command } from 'commander';
import { type CallFiles, callCheck } from '../call-hashes.ts';
import { callLines } from '../call-lines.ts';
import type { Exit } from '../output.ts';
import { type VerifyOptions, verifyFile, verifyOptions } from '../verifying.ts';

/** `tally verify`: without a network, against saved trust. */
export function verifyCommand(program: Command, finish: (exit: Exit) => void): void {
  verifyOptions(
    program
      .command('verify')
      .summary('verify a receipt, offline')
      .description(
        'Verifies a receipt of any family, and its anchor. Needs no network: trust comes from bundles saved by `tally trust fetch`. With --rpc the chain is asked as well.',
      ),
  )
    .option('--evidence <file>', 'the evidence of a metering receipt: leaves or receipts, NDJSON or CSV')
    .option('--request <file>', 'for an inference call: the request body, whose hash is recomputed')
    .option('--response <file>', 'for an inference call: the response body, or the bytes of the stream')
    .addHelpText('after', HELP)
    .action(async (file: string, options: VerifyOptions & CallFiles) => {
      const check = await callCheck(options);
      finish(
        await verifyFile(file, options, (receipt) => ({
          lines: callLines(receipt),
          ...(check !== null && { check: check(receipt) }),
        })),
      );
    });
}

const HELP = `
Exit status:
  0  valid, and the issuer is trusted
  1  not valid, or not a receipt
  2  wrong usage, or a file that can't be read
  3  intact, but the issuer is not trusted

Examples:
  $ tally trust fetch                                 once, with the network
  $ tally verify receipt.json                         from then on without
  $ tally mint --text hello | tally verify -
  $ tally verify receipt.json --anchor anchor.json    that it is in the log, offline
  $ tally verify receipt.json --anchor anchor.json --rpc https://rpc.example.com   and since when
  $ tally verify receipt.json --trust bundle.json     with a bundle from elsewhere
  $ tally verify receipt.json --request req.json --response res.json   what was asked and answered
  $ tally verify receipt.json --json | jq .valid`;
