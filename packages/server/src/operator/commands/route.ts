import { type Command, type Exit, operatorCommand } from '@tallystick/cli/toolkit';

/** `tally route`: explains why a call was routed to a model. */
export function routeCommands(program: Command, finish: (exit: Exit) => void): void {
  const route = operatorCommand(program, 'route');
  route
    .command('explain')
    .summary('replay a routing decision, and explain it')
    .description(
      'Replays the decision from the inputs that are recorded of it, without a network, and says whether the outcome is the same. Given a request instead, it shows where this machine’s configuration would send it.',
    )
    .argument(
      '<file>',
      'a call of the list, an answer with svc.explain, its svc.routing, or a chat completion request; - for standard input',
    )
    .option(
      '--config <file>',
      'for a request: the operator’s file (default: the one that TALLY_CONFIG names)',
    )
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: { config?: string; json?: boolean }) =>
      finish(await (await import('../route/explain.ts')).explainRoute(file, options)),
    );
}

const HELP = `
Exit status:
  0  decided, and the outcome is the recorded one
  1  the outcome differs from the recorded one
  2  wrong usage, or a file that can't be read

Examples:
  $ tally route explain answer.json
  $ tally route explain request.json --config models.json
  $ tally calls show r_env_1803902400_0123456789ab --json |
      tally route explain -`;
