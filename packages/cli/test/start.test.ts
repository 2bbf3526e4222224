import { writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { bin, type Ran, run, workspace } from './tally.ts';

const { at, remove } = workspace();
afterAll(remove);

/** `tally` of the sources, which ends where it loads a package of this name. A bundle's parts do not show what is in them. */
function without(name: string, args: readonly string[]): Promise<Ran> {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) {
      if (url.endsWith('/cli/src/bundle.ts'))
        return { format: 'module', source: 'export const bundledMain = () => null;', shortCircuit: true };
      if (url.includes('/${name}/')) throw new Error('${name} is loaded');
      return next(url, context);
    } });`;
  const preload = `data:text/javascript,${encodeURIComponent(hook)}`;
  return run(args, {
    command: [process.execPath, '--import', preload, bin],
    env: { TALLY_HOME: at('home'), TALLY_DATA_DIR: at('data'), PORT: '0' },
  });
}

test('who judges a receipt or asks for help does not wait for the server to be loaded', async () => {
  writeFileSync(at('empty.json'), '{}');
  expect(await without('packages/server', ['--help'])).toMatchObject({ code: 0, stderr: '' });
  expect(await without('packages/server', ['verify', at('empty.json')])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^✗ Not valid: .* is not a receipt/),
  });
});

test('who asks a chain about a receipt needs neither the server nor viem', async () => {
  const anchored = { merkle_path: [], merkle_root: `sha256:${'0'.repeat(64)}` };
  writeFileSync(at('anchored.json'), JSON.stringify(anchored));
  for (const name of ['packages/server', 'viem']) {
    const args = ['verify', at('empty.json'), '--anchor', at('anchored.json'), '--rpc', 'http://127.0.0.1:9'];
    const { stderr } = await without(name, args);
    expect(stderr).not.toContain('is loaded');
  }
});

test('what works on the service’s data loads viem only to ask a chain', async () => {
  expect(await without('viem', ['keys', 'init'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^did:/),
  });
  expect(await without('viem', ['apikey', 'create', '--tier', 'pro'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^k_pro_/),
  });
  // It starts a chain, which shows that the hook bites.
  expect(await without('viem', ['serve'])).toMatchObject({ stderr: expect.stringMatching(/viem is loaded/) });
});
