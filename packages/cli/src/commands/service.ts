import type { Command } from 'commander';
import { serve } from '@tallystick/server';
import { remark } from '../output.ts';
import { serviceConfig, withStore } from '../service-files.ts';

/** `tally serve` and `tally backup`: the service on this machine. */
export function serviceCommands(program: Command): void {
  program
    .command('serve')
    .summary('run the service')
    .description('Runs the service until SIGTERM or SIGINT. Configured by the environment: PORT, HOST, TALLY_DATA_DIR and more (docs/operations.md).')
    .action(() => serve(process.env));

  program
    .command('backup')
    .summary('copy the database while it is in use')
    .description('Writes a consistent copy of the service’s database to a file, while the service runs. Back up the keyring apart from it.')
    .argument('<file>', 'where to write the copy')
    .action(async (file: string) => {
      await withStore(serviceConfig(), (store) => store.backup(file));
      remark(`Wrote a consistent copy to ${file}. The keys are not in it: keep the keyring apart.`);
    });
}
