import { closeSync, existsSync, openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Acknowledged } from '../acknowledged.ts';
import { metric, until } from '../log-client.ts';
import { serve, temporaryFolder } from '../process.ts';
import { readiness } from './load.ts';

it.skipIf(!existsSync('/dev/full'))(
  'a standard error that takes nothing costs log lines, which are counted, and nothing else',
  async () => {
    const full = openSync('/dev/full', 'w');
    const env = { TALLY_DATA_DIR: temporaryFolder(), TALLY_DEVNET: 'off', TALLY_LOG_LEVEL: 'trace' };
    const service = await serve(env, full);
    closeSync(full);
    const acknowledged = new Acknowledged('no log');
    for (let count = 0; count < 50; count++) expect(await acknowledged.mint(service.url)).toBe(200);
    await until(
      () => metric(service.url, 'log_lines_dropped_total'),
      (dropped) => dropped > 0,
    );
    expect(await readiness(service.url)).toBe(200);
    await acknowledged.expectKept(service.url);
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
  },
);
