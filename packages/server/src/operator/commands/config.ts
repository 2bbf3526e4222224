import { type Command, type Exit, operatorCommand } from '@tallystick/cli/toolkit';

/** `tally config check`: the configuration of the service on this machine. */
export function configCommands(program: Command, finish: (exit: Exit) => void): void {
  const config = operatorCommand(program, 'config');
  config
    .command('check')
    .summary('check the environment and the configuration file')
    .description(
      'Reads the environment and the configuration file as `tally serve` would, and lists every fault with what to do. It opens no database and no port.',
    )
    .argument('[file]', 'the configuration file (default: the one that TALLY_CONFIG names)')
    .option('--print', 'also print every setting with its value and where that is from; secrets are left out')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string | undefined, options: { print?: boolean; json?: boolean }) =>
      finish((await import('../config.ts')).check(file, options)),
    );
}

const HELP = `
Exit status:
  0  the configuration has no faults
  1  it has faults

Examples:
  $ tally config check
  $ NODE_ENV=production tally config check /etc/tally/config.json --print`;
