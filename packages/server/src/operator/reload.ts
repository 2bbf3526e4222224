import { EXIT, type Exit, paint, print, printable, printJson, UsageError } from '@tallystick/cli/toolkit';
import { reloadProcesses } from '../app/control.ts';
import { controlFolder } from '../app/reloading.ts';
import { checkConfig } from '../config/config.ts';

/** Asks every process of the data directory to reload. @throws UsageError where none runs */
export async function reload({ json }: { readonly json?: boolean }): Promise<Exit> {
  // Faults of the configuration are for the processes to find: they may be read by another user, with other variables.
  const folder = controlFolder(checkConfig(process.env).config);
  const answers = await reloadProcesses(folder);
  if (answers.size === 0) {
    throw new UsageError(
      `No process of the service was found by ${folder}. Give the TALLY_DATA_DIR that it runs with, or send it SIGHUP.`,
    );
  }
  const failed = [...answers.values()].some(({ faults }) => faults.length > 0);
  if (json === true) {
    printJson([...answers].map(([pid, answer]) => ({ pid, ...answer })));
  } else {
    for (const [pid, { faults, restart }] of answers) {
      print(
        `${pid}: ${faults.length === 0 ? paint('green', 'reloaded') : paint('red', 'refused, goes on as before')}`,
      );
      for (const fault of faults) print(`  ${printable(fault)}`);
      if (restart.length > 0) print(`  to be changed by a restart: ${restart.map(printable).join(', ')}`);
    }
  }
  return failed ? EXIT.failed : EXIT.ok;
}
