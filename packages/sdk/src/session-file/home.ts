import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Folder of what Tallystick keeps for this user. A relative XDG_CONFIG_HOME is ignored, as its standard says. */
export function tallyHome(): string {
  const { TALLY_HOME: home = '', XDG_CONFIG_HOME: config = '' } = process.env;
  if (home !== '') return home;
  return join(isAbsolute(config) ? config : join(homedir(), '.config'), 'tallystick');
}
