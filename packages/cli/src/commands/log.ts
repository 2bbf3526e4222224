import type { Command } from 'commander';
import { rpcOption } from '../anchor/rpc-option.ts';
import { urlOption } from '../client.ts';
import { writeOut } from '../files.ts';
import { printCheckpoint } from '../log/checkpoint.ts';
import { prove } from '../log/prove.ts';
import { logTrust, type TrustOptions } from '../log/trusted.ts';
import { type Exit, printJson, remark, UsageError } from '../output.ts';
import { trustOptions } from '../verifying.ts';
import { followerCommands } from './log-followers.ts';

interface Remote extends TrustOptions {
  readonly url: string;
  readonly json?: boolean;
}

/** `tally log`: the anchor log, from inside and from outside. */
export function logCommands(program: Command, finish: (exit: Exit) => void): void {
  const log = program
    .command('log')
    .summary('check, prove and watch the anchor log')
    .description(
      'The anchor log. fsck and checkpoint --local work on the data of the service on this machine; the other commands ask a service from outside.',
    );

  log
    .command('fsck')
    .summary('recompute the log on this machine from its leaves')
    .description(
      'Recomputes the whole log from its leaves and compares every tile, checkpoint and posting, also while a service runs. Reports every fault and writes nothing.',
    )
    .addOption(rpcOption())
    .option('--json', 'as JSON')
    .addHelpText('after', FSCK_HELP)
    .action(async (options: { rpc?: string; json?: boolean }) =>
      finish(await (await import('../service/log.ts')).fsck(options)),
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
      .option('--out <file>', 'write the proof to a file'),
  )
    .option('--json', 'as JSON')
    .addHelpText('after', PROVE_HELP)
    .action(proveIt);

  followerCommands(log, finish);
}

const FSCK_HELP = `
Run it with the environment of the service, which says where the data are and which witnesses there are. The keys of
former witnesses are kept with the log; a signature by any other key is reported, but is not a fault.

Exit status: 0 sound, 1 something is wrong, 2 wrong usage, or the chain could not be asked.

Examples:
  $ TALLY_DATA_DIR=/var/lib/tally tally log fsck
  $ tally log fsck --rpc                         and ask the chain of TALLY_CHAIN_RPC_URL for every posting`;

const PROVE_HELP = `
Examples:
  $ tally log prove receipt.json --out receipt.tlog-proof
  $ tally log prove 117`;

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
  await (await import('../service/log.ts')).checkpoint(json === true);
}

async function proveIt(what: string, { url, out, json, ...trust }: Remote & { out?: string }): Promise<void> {
  const { text, origin, index, size } = await prove(what, url, await logTrust(trust));
  if (out !== undefined) writeOut(out, text);
  if (json) printJson({ origin, index, size, ...(out === undefined ? { proof: text } : { file: out }) });
  else if (out === undefined) process.stdout.write(text);
  else remark(`Wrote the proof of leaf ${index} of ${size} in ${origin} to ${out}.`);
}
