import type { Command } from 'commander';
import { writeOut } from '../files.ts';
import { printCheckpoint } from '../log/checkpoint.ts';
import { verifyForkFile } from '../log/fork.ts';
import { prove, proveByCose } from '../log/prove.ts';
import { logTrust, type TrustOptions } from '../log/trusted.ts';
import { requireOperator } from '../operator.ts';
import { type Exit, printJson, remark, UsageError } from '../output.ts';
import { urlOption } from '../service.ts';
import { trustOptions } from '../verify-options.ts';

interface Remote extends TrustOptions {
  readonly url: string;
  readonly json?: boolean;
}

/** `tally log`: checks a service's anchor log from outside. */
export function logCommands(program: Command, finish: (exit: Exit) => void): void {
  const log = program
    .command('log')
    .summary('check, prove and watch the anchor log')
    .description(
      'The anchor log. fsck and checkpoint --local work on the data of the service on this machine; the other commands ask a service from outside.',
    );

  trustOptions(
    log
      .command('checkpoint')
      .summary('print the newest checkpoint')
      .description(
        'Prints the newest checkpoint of a service’s log, a C2SP signed note, after checking its signature against saved trust.',
      )
      .addOption(urlOption())
      .option('--local', 'from the data of the service on this machine'),
  )
    .option('--json', 'as JSON')
    .action(checkpoint);

  trustOptions(
    log
      .command('prove')
      .summary('prove that a hash is in the log')
      .description(
        'Prints a C2SP tlog-proof of a hash, after checking it from the hash to the log’s signature against saved trust.',
      )
      .argument('<what>', 'a hash, the index of a leaf, or the file of a receipt')
      .addOption(urlOption())
      .option('--out <file>', 'write the proof to a file')
      .option('--cose', 'as a COSE Receipt (RFC 9942), with --out'),
  )
    .option('--json', 'as JSON')
    .addHelpText('after', PROVE_HELP)
    .action(proveIt);

  log
    .command('fork')
    .summary('check a proof that a log forked')
    .description(
      'Proofs that a log signed two trees that contradict each other, as tally log monitor writes them.',
    )
    .command('verify')
    .summary('check a fork file, offline')
    .description(
      'Checks a fork file by itself: both signatures by the log’s key, and the hashes that contradict each other. Compare the key with that of the log that you mean.',
    )
    .argument('<file>', 'the fork file')
    .option('--json', 'as JSON')
    .addHelpText('after', FORK_HELP)
    .action(async (file: string, { json }: { json?: boolean }) =>
      finish(await verifyForkFile(file, json === true)),
    );
}

const PROVE_HELP = `
Examples:
  $ tally log prove receipt.json --out receipt.tlog-proof
  $ tally log prove receipt.json --cose --out receipt.cbor
  $ tally log prove 117`;

const FORK_HELP = `
Exit status: 0 it proves a fork, 1 it proves none, 2 wrong usage.`;

async function checkpoint(
  { url, local, json, ...trust }: Remote & { local?: boolean },
  command: Command,
): Promise<void> {
  if (!local) return printCheckpoint(url, await logTrust(trust), json === true);
  if (command.getOptionValueSource('url') === 'cli')
    throw new UsageError('Give either --url or --local: not both.');
  if (trust.trust !== undefined || trust.root !== undefined)
    throw new UsageError(
      'With --local the data of the service say which key is the log’s: --trust and --root do not count.',
    );
  await (await requireOperator('tally log checkpoint --local')).printLocalCheckpoint(json === true);
}

async function proveIt(
  what: string,
  { url, out, json, cose, ...trust }: Remote & { out?: string; cose?: boolean },
): Promise<void> {
  if (cose === true) {
    if (out === undefined)
      throw new UsageError('A COSE Receipt is binary: say where to write it, with --out.');
    const { bytes, place, entry } = await proveByCose(what, url, await logTrust(trust));
    writeOut(out, bytes);
    if (json) printJson({ entry, file: out });
    else remark(`Wrote the receipt of ${place} to ${out}. Check it: tally verify ${out} --entry ${entry}`);
    return;
  }
  const { text, origin, index, size } = await prove(what, url, await logTrust(trust));
  if (out !== undefined) writeOut(out, text);
  if (json) printJson({ origin, index, size, ...(out === undefined ? { proof: text } : { file: out }) });
  else if (out === undefined) process.stdout.write(text);
  else remark(`Wrote the proof of leaf ${index} of ${size} in ${origin} to ${out}.`);
}
