import {
  type Command,
  type Exit,
  Option,
  operatorCommand,
  serviceRpcOption,
  UsageError,
  urlOption,
} from '@tallystick/cli/toolkit';
import { parseVerifierKey, TallyError, type VerifierKey } from '@tallystick/core';
import type { MonitorOptions } from '../monitor.ts';
import type { WitnessOptions } from '../witness.ts';

/** `tally log fsck | witness | monitor`: checks the log of the service on this machine, and watches others'. */
export function logCommands(log: Command, finish: (exit: Exit) => void): void {
  operatorCommand(log, 'fsck')
    .description(
      'Recomputes the whole log from its leaves and compares every tile, checkpoint and posting, also while a service runs. Reports every fault and writes nothing.',
    )
    .addOption(serviceRpcOption())
    .option('--json', 'as JSON')
    .addHelpText('after', FSCK_HELP)
    .action(async (options: { rpc?: string | true; json?: boolean }) =>
      finish(await (await import('../log.ts')).fsck(options)),
    );

  operatorCommand(log, 'witness')
    .description(
      'Runs a C2SP tlog-witness until SIGTERM or SIGINT: it cosigns a log’s checkpoint once that is proved to extend the last one cosigned. Prints the witness’s verifier keys, one a line.',
    )
    .requiredOption('--name <name>', 'the witness’s name, such as witness.example.com', keyName)
    .requiredOption('--key <file>', 'your key file (tally keys generate), used for this witness only')
    .addOption(
      new Option('--log <vkey...>', 'the verifier keys of the logs that it follows')
        .argParser(collectKeys)
        .makeOptionMandatory(),
    )
    .requiredOption('--listen <host:port>', 'where it answers; port 0 for any free one', address)
    .requiredOption('--state <file>', 'file with what it cosigned last; never restore an older copy')
    .option('--ml-dsa', 'cosign by ML-DSA-44 too, with a key that is made from the same file (experimental)')
    .option('--json', "the witness's keys and address as JSON, once it is ready")
    .addHelpText('after', WITNESS_HELP)
    .action(async (options: WitnessOptions) => (await import('../witness.ts')).witness(options));

  operatorCommand(log, 'monitor')
    .description(
      'Checks a log’s checkpoint and tiles repeatedly, and exits with 1 if the log has forked or rolled back. The state file keeps the newest checkpoint seen.',
    )
    .addOption(urlOption())
    .requiredOption('--vkey <vkey>', 'the log’s verifier key (tally anchor status)', key)
    .requiredOption('--state <file>', 'file with the newest checkpoint seen')
    .option('--every <seconds>', 'how often to check', seconds, 60)
    .option(
      '--witness-policy <file>',
      'witnesses that must have cosigned the newest checkpoint (C2SP tlog-policy)',
    )
    .option(
      '--compare <source...>',
      'what others were shown of the log: files, folders or URLs with checkpoints, tlog-proofs or receipts with anchors',
    )
    .option('--fork-out <file>', 'file for the proof of a fork (default: the state file with .fork.json)')
    .option('--once', 'check only once')
    .option('--json', 'as JSON: one document with --once, otherwise one line for each check')
    .addHelpText('after', MONITOR_HELP)
    .action(async (options: MonitorOptions) =>
      finish(await (await import('../monitor.ts')).monitor(options)),
    );
}

const FSCK_HELP = `
Run it with the environment of the service, which says where the data are and
who the witnesses are. The keys of former witnesses are kept with the log; a
signature of any other key is reported, and is no fault.

Exit status: 0 sound, 1 something is wrong, 2 wrong usage, or the chain could
not be asked.

Examples:
  $ TALLY_DATA_DIR=/var/lib/tally tally log fsck
  $ tally log fsck --rpc      and ask the service's own node of the chain for
                              every posting`;

const WITNESS_HELP = `
Example:
  $ tally keys generate --out witness.json
  $ tally log witness --name witness.example.com --key witness.json \\
      --state witness.state --listen 127.0.0.1:7380 \\
      --log "log.example.com+5f6d3a46+AYXKG9…"`;

const MONITOR_HELP = `
Exit status: 1 when the log has forked or rolled back, against what was seen
before or what others were shown, or shows what it has not signed; with --once,
3 when the witnesses of --witness-policy are not enough.

Besides what --compare names, the log is held to the checkpoints of anchors that
tally verify found good on this machine, which it keeps in $TALLY_HOME/heads.

Examples:
  $ tally log monitor --url https://api.example.com --state seen.txt \\
      --vkey "log.example.com+5f6d3a46+AYXKG9…"
  $ tally log monitor --url https://api.example.com --state seen.txt \\
      --vkey "log.example.com+5f6d3a46+AYXKG9…" \\
      --compare receipts/ https://monitor.example.net/seen.txt`;

/** @throws UsageError */
function key(text: string): VerifierKey {
  try {
    return parseVerifierKey(text);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new UsageError(`“${text}” is not the verifier key of a log. ${error.message}`, { cause: error });
  }
}

function collectKeys(text: string, before: readonly VerifierKey[] = []): readonly VerifierKey[] {
  return [...before, key(text)];
}

/** A valid name of a key (C2SP signed-note). */
function keyName(text: string): string {
  if (/^[^\p{White_Space}\p{Cc}+]+$/u.test(text)) return text;
  throw new UsageError('The name of a witness must not be empty, and must contain neither spaces nor “+”.');
}

function address(text: string): { host: string; port: number } {
  const [, host = '', digits = ''] = /^(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host === '' || port > 65_535) throw new UsageError('--listen takes host:port, such as 127.0.0.1:7380.');
  return { host: host.replace(/^\[|\]$/g, ''), port };
}

function seconds(text: string): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (value < 1) throw new UsageError('--every takes a whole number of seconds from 1.');
  return value;
}
