import type { Command } from 'commander';
import { type Exit, UsageError } from '../output.ts';
import { urlOption } from '../service.ts';
import type { StatusOptions } from '../status/run.ts';
import { trustOptions } from '../verify-options.ts';

/** `tally status`: shows a service's report on itself, and whether it can be relied on. */
export function statusCommand(program: Command, finish: (exit: Exit) => void): void {
  const command = program
    .command('status')
    .summary('show the signed status of a service')
    .description(
      "Shows the state of a service's endpoints and of its log. With --verify, the signature is checked against saved trust and the document is compared with the newest one seen before, so that an outdated, rolled back or forked status is detected.",
    )
    .addOption(urlOption())
    .option('--verify', 'verify it, and remember the newest one seen')
    .option('--state <file>', 'where that is remembered (default: a file of its own for each service)');
  trustOptions(command)
    .option('--watch', 'check repeatedly, until the service contradicts itself')
    .option('--every <seconds>', 'seconds between two checks', seconds, 60)
    .option('--json', 'as JSON: one object, or with --watch one on each line')
    .addHelpText('after', HELP)
    .action(async (options: StatusOptions) =>
      finish(await (await import('../status/run.ts')).runStatus(options)),
    );
}

function seconds(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new UsageError(`“${text}” is not a number of seconds from 1 to 99999.`);
}

const HELP = `
Exit status:
  0  nothing is down; with --verify also: valid, trusted and new
  1  an endpoint is down; with --verify also: not valid, stale, rolled back or
     forked
  2  wrong usage
  3  with --verify: intact, but the issuer is not trusted

Examples:
  $ tally trust fetch              once
  $ tally status --verify
  $ tally status --verify --watch --json`;
