import { type CallInput, isObject, readCall } from '@tallystick/core';
import { type Command, Option } from 'commander';
import { type CallFiles, checksOfCall, readCallFiles } from '../call-files.ts';
import { callLines } from '../call-lines.ts';
import { nameOf } from '../input.ts';
import { type Exit, UsageError } from '../output.ts';
import {
  type Add,
  type ParsedReceipt,
  type VerifyOptions,
  verifyFile,
  verifyFiles,
  verifyOptions,
} from '../verify-options.ts';

/** `tally verify`: verifies receipts against saved trust, without a network. */
export function verifyCommand(program: Command, finish: (exit: Exit) => void): void {
  verifyOptions(
    program
      .command('verify')
      .argument(
        '[files...]',
        'the receipts: files, or - for standard input; with --response, none for the one in it',
      )
      .summary('verify receipts, offline')
      .description(
        'Verifies receipts of any family, and their anchors. Knows the receipts of other makers too: Acta, x402, DSSE with in-toto, tlog-proofs, COSE Receipts, x-agent-trust. Needs no network: trust comes from bundles saved by `tally trust fetch`. With --rpc the chain is asked as well. Of several files it says one line each. With --request and --response it verifies an inference call of any protocol.',
      ),
  )
    .option('--evidence <file>', 'the evidence of a metering receipt: leaves or receipts, NDJSON or CSV')
    .option('--key <key>', 'a key that must have signed it, or a file with one; may be repeated', collect, [])
    .option(
      '--entry <file>',
      'for a tlog-proof or COSE Receipt: the entry that it is about, as a file or 64 hex digits',
    )
    .option('--request <file>', 'for an inference call: the request body as it was sent')
    .option('--response <file>', 'for an inference call: the response body, or the bytes of the stream')
    .addOption(
      new Option(
        '-q, --quiet',
        'say nothing of what is valid and trusted, and one line of all else',
      ).conflicts('json'),
    )
    .addHelpText('after', HELP)
    .action(async (files: string[], options: VerifyOptions & CallFiles) => {
      if (files.length > 1) assertForMany(files, options);
      const call = await readCallFiles(options);
      const [file = receiptIn(call, options)] = files;
      const add: Add = (receipt) => ({
        lines: callLines(receipt),
        checks: call === null ? [] : checksOfCall(call, receipt),
      });
      const brief = files.length > 1 || options.quiet === true;
      finish(
        await (brief
          ? verifyFiles(files.length > 0 ? files : [file], options, add)
          : verifyFile(file, options, add)),
      );
    });
}

const collect = (one: string, all: readonly string[]): readonly string[] => [...all, one];

/** The receipt in the answer. @throws UsageError if no answer is given, or it contains none */
function receiptIn(call: CallInput | null, { response }: CallFiles): ParsedReceipt {
  if (call === null || response === undefined)
    throw new UsageError('Name the file of a receipt, or give --response: an answer contains its receipt.');
  const { receipt } = readCall(call);
  const name = nameOf(response);
  if (!isObject(receipt))
    throw new UsageError(`${name} contains no receipt: give its file, from GET /v1/receipt/<X-Receipt-Id>.`);
  return { name, json: receipt };
}

/** Refuses options that can apply to one receipt only. @throws UsageError */
function assertForMany(files: readonly string[], options: VerifyOptions & CallFiles): void {
  const single = (['anchor', 'entry', 'evidence', 'request', 'response'] as const).find(
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
  3  intact, but the issuer is not trusted, or the witnesses of --witness-policy
     are not enough

Examples:
  $ tally trust fetch                               once, with the network
  $ tally verify receipt.json                       from then on without
  $ tally verify receipts/*.json --quiet            only what is not good
  $ tally mint --text hello | tally verify -
  $ tally verify receipt.json --anchor anchor.json  that the log has it, offline
  $ tally verify receipt.json --anchor anchor.json --rpc https://rpc.example.com
                                                    and since when
  $ tally verify receipt.json --anchor anchor.json --witness-policy policy.txt
                                                    and that witnesses saw it
  $ tally verify receipt.json --trust bundle.json   with a bundle from elsewhere
  $ tally verify receipt.json --request req.json --response res.json
                                                    what was asked and answered
  $ tally verify --request req.json --response res.sse
                                                    by the receipt in the answer
  $ tally verify acta.jsonl --key 4cb5abf6…         another maker’s chain
  $ tally verify attestation.json --key signer.pem  a DSSE envelope
  $ tally verify proof.txt --key log.example+… --entry entry.bin
                                                    that a log has the entry
  $ tally verify receipt.json --json | jq .valid`;
