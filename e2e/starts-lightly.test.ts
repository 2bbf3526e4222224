import { expect, test } from 'vitest';
import { serve, temporaryFolder } from './process.ts';

/** Says on stderr who asks for a class of `fetch`, or for a formatter of `Intl`, before it hands it out. */
const WATCH = `
  import { writeSync } from 'node:fs';
  const watch = (holder, name) => {
    const value = holder[name];
    Object.defineProperty(holder, name, {
      get() {
        writeSync(2, name + ' is loaded' + String.fromCharCode(10));
        return value;
      },
    });
  };
  for (const name of Object.getOwnPropertyNames(Intl)) watch(Intl, name);
  for (const name of ['Request', 'Response']) watch(globalThis, name);
  if (process.env.ASKS === 'on') new Intl.ListFormat('en-GB');`;

/** What `tally serve` has written to stderr when it is ready. */
async function started(asks: 'on' | 'off'): Promise<string> {
  const service = await serve({
    PATH: process.env['PATH'] ?? '',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WATCH)}`,
    ASKS: asks,
    PORT: '0',
    TALLY_DATA_DIR: temporaryFolder(),
    TALLY_DEVNET: 'off',
  });
  const { stderr } = await service.kill('SIGKILL');
  return stderr;
}

test('a service starts without the classes of fetch, and without the languages of Intl', async () => {
  expect(await started('off')).not.toContain('is loaded');
  expect(await started('on')).toContain('ListFormat is loaded');
});
