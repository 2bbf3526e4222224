import { EXIT, type Exit, paint, print, printable, printJson } from '@tallystick/cli/toolkit';
import { checkConfig } from '../config/config.ts';

/** Lists the faults of the configuration, and with `print` every setting; secrets are shown as `(secret)`. */
export function check(
  file: string | undefined,
  options: { readonly print?: boolean; readonly json?: boolean },
): Exit {
  const { settings, faults } = checkConfig({
    ...process.env,
    ...(file !== undefined && { TALLY_CONFIG: file }),
  });
  const effective = settings.map(({ name, given, fallback, from }) => ({
    name,
    value: given ?? fallback,
    from,
  }));
  if (options.json === true) {
    printJson({ faults, ...(options.print === true && { settings: effective }) });
  } else {
    if (options.print === true) {
      for (const { name, value, from } of effective)
        print(`${name}=${printable(String(value ?? ''))}  ${paint('dim', `(${from})`)}`);
    }
    for (const fault of faults) print(printable(fault));
    const count = `${faults.length} fault${faults.length === 1 ? '' : 's'}`;
    print(faults.length === 0 ? paint('green', 'The configuration has no faults.') : paint('red', count));
  }
  return faults.length === 0 ? EXIT.ok : EXIT.failed;
}
