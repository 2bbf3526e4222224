import { reportDataOf } from '@tallystick/attest';
import { publicKeyOfDidKey } from '@tallystick/core';
import type { Command } from 'commander';
import { type AttestOptions, judgeEvidence } from '../attest/judge.ts';
import { asUsage, type Exit, print, printJson } from '../output.ts';

/** `tally attest`: judges evidence of confidential hardware. */
export function attestCommands(program: Command, finish: (exit: Exit) => void): void {
  const attest = program
    .command('attest')
    .summary('check evidence of confidential hardware')
    .description(
      'Evidence that confidential hardware signed: AMD SEV-SNP, Intel TDX, AWS Nitro Enclaves, NVIDIA GPUs. A receipt names it in hardware.attestation, by its hash.',
    );

  attest
    .command('verify')
    .summary('check evidence, offline')
    .description(
      'Judges evidence without a network: the vendor’s certificates up to its root, the signatures, what the vendor demands, debug mode. With --receipt it also says whether the receipt names this evidence, and the evidence the key of the receipt. Revocation lists and lists of known firmware are not looked at.',
    )
    .argument('<file>', 'the evidence: a file, or - for standard input')
    .option('--receipt <file>', 'the receipt that names it')
    .option('--measurement <hex>', 'the measurement that the software must have')
    .option('--report-data <hex>', 'what the report data, user data or nonce must begin with')
    .option('--at <time>', 'when the certificates must be valid, if the evidence has no time: UTC')
    .option('--json', 'as JSON')
    .addHelpText('after', VERIFY_HELP)
    .action(async (file: string, options: AttestOptions) => finish(await judgeEvidence(file, options)));

  attest
    .command('report-data')
    .summary('print what a machine must sign to name a key')
    .description(
      'Prints the 64 bytes, in hex, that evidence must have as report data to name the key of an issuer: the SHA-256 of the public key, then zeros. Nitro takes them as user data. Evidence of NVIDIA can name no key.',
    )
    .argument('<key>', 'the key as did:key, as tally keys list prints it')
    .option('--json', 'as JSON')
    .action((key: string, { json }: { json?: boolean }) => printReportData(key, json === true));
}

function printReportData(key: string, json: boolean): void {
  let reportData: string;
  try {
    reportData = reportDataOf(publicKeyOfDidKey(key));
  } catch (error) {
    throw asUsage(error);
  }
  if (json) printJson({ key, report_data: reportData });
  else print(reportData);
}

const VERIFY_HELP = `
The file is, of SEV-SNP, the report of 1,184 bytes followed by the certificates:
as the table of an extended report, or as PEM. Of TDX it is the quote, of Nitro
the document, of NVIDIA the JSON that its SDK collects.

Exit status:
  0  genuine; with --receipt, the evidence names the key of the receipt too
  1  not genuine, not what was expected, no evidence at all, or a receipt that
     is not intact
  2  wrong usage, or a file that can't be read
  3  genuine, but with --receipt: nothing says that the receipt was made there

Examples:
  $ cat report.bin vcek.pem ask.pem ark.pem > evidence.bin
  $ tally attest verify evidence.bin
  $ curl -sO https://api.example.com/v1/attestations/$SHA256
  $ tally attest verify $SHA256 --receipt receipt.json`;
