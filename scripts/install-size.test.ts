import { describe, expect, it } from 'vitest';
import { productionInstall } from './install-size.ts';

describe('a production installation of the server', () => {
  const installed = productionInstall('server');
  const paths = installed.map(({ path }) => path);

  it('takes less than 275 MB', () => {
    expect(paths).toEqual(
      expect.arrayContaining(['packages/server', 'node_modules/viem', 'node_modules/hono']),
    );
    expect(installed.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(275e6);
  });

  it('holds no development chain, TensorFlow, compiler or SDK of a provider', () => {
    const names = /anvil|tensorflow|energetic|typescript|\/openai$|esbuild|vitest/;
    expect(paths.filter((path) => names.test(path))).toEqual([]);
  });
});
