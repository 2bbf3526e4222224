import { apiKeyOption, type Command, type Exit, operatorCommand, urlOption } from '@tallystick/cli/toolkit';
import type { QualifyOptions } from '../prospector/qualify.ts';

/** `tally prospector`: checks how ready a service is for AI agents. */
export function prospectorCommands(program: Command, finish: (exit: Exit) => void): void {
  const prospector = operatorCommand(program, 'prospector').description(
    'Has a service check an AI transaction surface from outside. A pilot for partners.',
  );
  prospector
    .command('qualify')
    .summary('check a surface, and list what to fix')
    .description(
      'Has the service check the documents, OpenAPI, keys, receipts, MCP, x402, TLS, headers, limits and errors of an origin. It pays nothing and sends no credentials. Public addresses only; a service in development can also check its own machine.',
    )
    .argument('[origin]', 'such as https://example.com')
    .option('--descriptor <file>', 'a descriptor instead, as JSON (docs/prospector.md); - for standard input')
    .addOption(urlOption())
    .addOption(apiKeyOption())
    .option('--json', 'the report, as JSON')
    .addHelpText('after', HELP)
    .action(async (origin: string | undefined, options: QualifyOptions) =>
      finish(await (await import('../prospector/qualify.ts')).runQualify(origin, options)),
    );
}

const HELP = `
Exit status:
  0  ready
  1  not ready, or with gaps
  2  wrong usage

Examples:
  $ tally prospector qualify https://example.com
  $ tally prospector qualify --descriptor descriptor.json --json`;
