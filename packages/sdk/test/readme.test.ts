import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve, tally, temporaryFolder } from '../../../e2e/process.ts';
import { createClient } from '../src/index.ts';

const sdk = fileURLToPath(new URL('..', import.meta.url));
const programsOf = (page: string): string[] =>
  [...readFileSync(join(sdk, page), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(
    ([, program = '']) => program,
  );

/** What each program prints, in the order of its page. */
const PRINTED = {
  'README.md': [
    /^r_env_\d+_[0-9a-f]{12} sha256:[0-9a-f]{64}\ntrue true\nempty_input input\n$/,
    /^true true\n$/,
    /^did:svc:local-[0-9a-f]{8} verified\n$/,
    /^r_env_\d+_[0-9a-f]{12} chat true\nrequest true\nresponse true\nfalse\n$/,
    /^true true closed 3\n$/,
    /^anchor true\nanchor_checkpoint true\nanchor_transaction null\n$/,
    /^r_issue_\d+_[0-9a-f]{12} true\n$/,
    /^32 metered_units_partially_evidence_backed\n$/,
  ],
  '../../docs/sdk.md': [
    /^c2sp\.org\/tlog-proof@v1 index \d+ true\n$/,
    /^0\.\d{9} 1 svc-receipt-v1\n$/,
    /^true true\n$/,
    /^0\.000000000 true\n$/,
    /^standard 1\n$/,
    /^2 17\n$/,
  ],
  '../../docs/sessions-through-the-service.md': [/^true closed 3\n$/],
  '../ai-sdk/README.md': [/^The ferry leaves at 7:40\. r_env_\w+\n$/, /^$/, /^$/],
  '../langchain/README.md': [/^[0-9a-f-]{36} r_env_\w+ true\nThe ferry leaves at 7:40\. true\n$/, /^$/],
  '../chain/README.md': [/^null\n$/],
  '../log/README.md': [/^first\n$/],
  // Its client is gone at once.
  '../mcp/README.md': [/^$/],
};

describe.each(Object.entries(PRINTED))('the programs in %s', (page, printed) => {
  const programs = programsOf(page);
  // Beside the SDK, so that its name resolves; Node strips no types under node_modules.
  const folder = mkdtempSync(join(sdk, '.readme-'));
  const files = programs.map((_, index) => join(folder, `program-${index}.ts`));
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    const TALLY_DATA_DIR = temporaryFolder();
    const service = await serve({ TALLY_DATA_DIR, TALLY_ANCHOR_PERIOD_SECONDS: '2' });
    const run = async (...args: readonly string[]) => (await tally(args, { TALLY_DATA_DIR })).stdout.trim();
    const tenant = await run('tenant', 'create');
    env = {
      ...process.env,
      TALLY_API_KEY: await run('apikey', 'create', '--tier', 'pro'),
      TALLY_TENANT: tenant,
      TALLY_TENANT_KEY: await run('tenant', 'key', tenant),
      TALLY_HOME: TALLY_DATA_DIR,
      LOG_VKEY: (await createClient({ baseUrl: service.url }).getLogStatus()).verifier_key,
    };
    const chainUrl = readFileSync(join(TALLY_DATA_DIR, 'devnet/rpc-url'), 'utf8').trim();
    for (const [index, file] of files.entries()) {
      const program = (programs[index] ?? '').replaceAll('http://127.0.0.1:8787', service.url);
      writeFileSync(file, program.replaceAll('http://127.0.0.1:8545', chainUrl));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('are as many as are tried here', () => {
    expect(programs).toHaveLength(printed.length);
  });

  test('compile', () => {
    const config = {
      extends: '../../../tsconfig.base.json',
      compilerOptions: { lib: ['es2024', 'dom'], types: ['node'], composite: false, noEmit: true },
      include: ['*.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(sdk, '../../node_modules/typescript/bin/tsc');
    expect(execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })).toBe('');
  });

  test.each(printed.map((pattern, index) => [index, pattern] as const))(
    'number %i runs',
    (index, pattern) => {
      const file = files[index] ?? '';
      const output = execFileSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', env });
      expect(output).toMatch(pattern);
    },
  );
});
