import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, type Service, serve, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
let service: Service;
let partner: string;
beforeAll(async () => {
  service = await serve(at('data'), { env: { TALLY_FREE_MINT_PER_DAY: '100' } });
  partner = (await here(['apikey', 'create', '--scope', 'partner'])).stdout.trim();
});
afterAll(async () => {
  await service.stop();
  remove();
});

const here = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  tally(args, { env: { ...service.env, ...env } });
const qualify = (...args: string[]): Promise<Ran> =>
  here(['prospector', 'qualify', ...args], { TALLY_API_KEY: partner });

describe('tally prospector qualify', () => {
  test('shows the verdict, each area and what to mend', async () => {
    const { code, stdout, stderr } = await qualify(service.url);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n');
    expect(lines[0]).toBe(`${service.url}: ready, 97 of 100; areas of weight 85 were checked`);
    for (const line of [
      /^✓ receipts +20 +100 {2}A receipt of the family envelope verifies offline; /m,
      /^✗ payment +10 +75$/m,
      /^– transport +15 +– {2}Plain HTTP/m,
      /^minor +payment_not_offered {2}No x402 payment is offered$/m,
      /^ {4}fix: Name a paid endpoint/m,
      /publishes about itself/,
    ])
      expect(stdout).toMatch(line);
  });

  test('gives JSON, of a descriptor too', async () => {
    writeFileSync(at('descriptor.json'), JSON.stringify({ origin: service.url, endpoints: {} }));
    const { code, stdout } = await qualify('--descriptor', at('descriptor.json'), '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'svc-readiness-v1', origin: service.url, score: 97 });
  });

  test('ends with 1 where the surface is not ready, and shows nothing that draws on the terminal', async () => {
    const other = createServer((_, response) => response.end('\u001b[2Jhello'));
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const { code, stdout } = await qualify(`http://127.0.0.1:${port}`);
    other.close();
    expect(code).toBe(1);
    expect(stdout).toContain('not ready');
    expect(stdout).toContain('critical openapi_missing');
    expect(stdout).not.toContain('\u001b');
  });

  test.each<[string, string[], number, RegExp]>([
    ['nothing to check', [], 2, /either an origin/],
    ['both', ['https://example.com', '--descriptor', 'x'], 2, /either an origin/],
    ['no origin', ['example.com'], 1, /\(invalid_field\)/],
    ['a private address', ['https://10.0.0.1'], 1, /\(invalid_field\)/],
  ])('%s', async (_, args, status, message) => {
    const { code, stderr } = await qualify(...args);
    expect([code, stderr]).toEqual([status, expect.stringMatching(message)]);
  });

  test('needs a partner’s key', async () => {
    const without = await here(['prospector', 'qualify', service.url]);
    expect([without.code, without.stderr]).toEqual([2, expect.stringMatching(/partner key/)]);
    const key = (await here(['apikey', 'create', '--tier', 'pro'])).stdout.trim();
    const { code, stderr } = await here(['prospector', 'qualify', service.url], { TALLY_API_KEY: key });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\(partner_only\)/)]);
  });
});
