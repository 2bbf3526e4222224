import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkTrustBundle, type JsonValue, parseJson, trustOf, utf8, verify } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Served, serve, temporaryFolder } from './process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const home = temporaryFolder();

/** Blocks marked `sh tour` or `sh door`, with the exit status that the text promises. */
function blocks(kind: 'tour' | 'door'): readonly { script: string; exit: number; title: string }[] {
  const marked = new RegExp(`\`\`\`sh ${kind}(?: exit=(\\d))?\\n([\\s\\S]*?)\`\`\``, 'g');
  return [...readme.matchAll(marked)].map(([, exit = '0', script = '']) => ({
    script,
    exit: Number(exit),
    title: script.trim().split('\n').at(-1) ?? '',
  }));
}

describe('the README', () => {
  test('shows a receipt that is intact', async () => {
    const receipt = /```json\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const { integrity, family } = await verify(parseJson(utf8(receipt)), { now: Date.now() });
    expect({ integrity, family }).toEqual({ integrity: true, family: 'envelope' });
  });

  describe('has doors and a tour that work as printed', () => {
    let service: Served;
    beforeAll(async () => {
      service = await serve({ TALLY_DATA_DIR: join(home, 'data') });
    });
    afterAll(async () => {
      await service.kill('SIGTERM');
      rmSync(join(root, 'tour'), { recursive: true, force: true });
    });

    test('with several steps', () => {
      expect(blocks('door')).toHaveLength(3);
      expect(blocks('tour').length).toBeGreaterThanOrEqual(7);
    });

    /** Runs a block as printed, but at this service; `tally` is installed for whoever walks through a door. */
    const run = (script: string, cwd: string): { status: number | null; stdout: string; stderr: string } => {
      const at = script
        .replaceAll('http://127.0.0.1:8787', service.url)
        .replaceAll('.tally/', `${home}/data/`);
      const env = {
        ...process.env,
        PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
        TALLY_URL: service.url,
        TALLY_HOME: home,
        TALLY_DATA_DIR: join(home, 'data'),
      };
      return spawnSync('bash', ['-euo', 'pipefail', '-c', at], { cwd, env, encoding: 'utf8' });
    };

    test.each(blocks('door'))('$title', ({ script, exit }) => {
      const { status, stdout, stderr } = run(script, home);
      expect({ status, stderr: status === exit ? '' : stderr }).toEqual({ status: exit, stderr: '' });
      const shown = [
        ['curl', '"receipt_id":"r_'],
        ['verify', 'Valid'],
      ].filter(([command = '']) => script.includes(command));
      expect(shown.filter(([, text = '']) => !stdout.includes(text))).toEqual([]);
    });

    test.each(blocks('tour'))('$title', ({ script, exit }) => {
      const { status, stderr } = run(script, root);
      expect({ status, stderr: status === exit ? '' : stderr }).toEqual({ status: exit, stderr: '' });
    });

    test('ends with a receipt that the log has, which is shown offline', async () => {
      const read = (name: string): JsonValue => parseJson(readFileSync(join(root, `tour/${name}.json`)));
      const { bundle } = await checkTrustBundle(read('trust'), { now: Date.now() });
      const { valid, checks } = await verify(read('receipt'), {
        now: Date.now(),
        trust: trustOf(bundle.issuers, [bundle]),
        anchor: read('anchor'),
      });
      const anchors = checks.filter(({ name }) => name.startsWith('anchor'));
      expect({ valid, anchors: anchors.map(({ name, ok }) => [name, ok]) }).toEqual({
        valid: true,
        anchors: [
          ['anchor', true],
          ['anchor_checkpoint', true],
          ['anchor_transaction', null],
        ],
      });
    });
  });
});
