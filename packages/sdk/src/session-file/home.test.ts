import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { tallyHome } from './home.ts';

afterEach(() => vi.unstubAllEnvs());

test.each([
  ['TALLY_HOME first', { TALLY_HOME: '/t', XDG_CONFIG_HOME: '/x' }, '/t'],
  ['then XDG_CONFIG_HOME', { TALLY_HOME: '', XDG_CONFIG_HOME: '/x' }, '/x/tallystick'],
  ['unless it is relative', { TALLY_HOME: '', XDG_CONFIG_HOME: 'x' }, join(homedir(), '.config/tallystick')],
  ['then the user’s', { TALLY_HOME: '', XDG_CONFIG_HOME: '' }, join(homedir(), '.config/tallystick')],
])('the folder is where the environment says: %s', (_, env, folder) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(tallyHome()).toBe(folder);
});
