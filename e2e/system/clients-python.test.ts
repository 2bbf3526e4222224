import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installPython } from '../../scripts/python-venv.js';
import { blocks, expectPrints } from '../clients-docs.ts';
import { must } from '../packages/install.ts';
import { type Served, serve, temporaryFolder } from '../process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = temporaryFolder();
const bin = join(folder, 'venv/bin');

let service: Served;
beforeAll(async () => {
  must('python3', ['-m', 'venv', join(folder, 'venv')], root);
  installPython(join(bin, 'python'), `${join(root, 'python')}[test-clients]`);
  service = await serve({ TALLY_DATA_DIR: join(folder, 'data') });
}, 900_000);
afterAll(() => service.kill('SIGTERM'));

test('LlamaIndex and llm: calls, streams, tools, errors', () => {
  const files = ['tests/test_llama_index.py', 'tests/test_llm.py'];
  const options = { cwd: join(root, 'python'), encoding: 'utf8' } as const;
  const { stdout } = spawnSync(join(bin, 'python'), ['-m', 'pytest', ...files], options);
  expect(stdout).toMatch(/^\d+ passed in [^,]+$/m);
});

test.each(blocks('run-system').map((block) => [block.page, block] as const))('%s', (page, block) => {
  const home = join(folder, page);
  mkdirSync(join(home, 'llm'), { recursive: true });
  const code = block.code.replaceAll('http://127.0.0.1:8787', service.url);
  const command = block.language === 'sh' ? ['bash', '-euo', 'pipefail', '-c'] : [join(bin, 'python'), '-c'];
  const env = {
    PATH: `${bin}:${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
    LLM_USER_PATH: join(home, 'llm'),
    TALLY_HOME: home,
    TALLY_URL: service.url,
    // LiteLLM would fetch a list of prices.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  };
  expectPrints([...command, code], block, { cwd: home, env });
});
