// Makes a release, up to the last step before the network: `npm run release -- --dry-run [--skip-tests] [--to <folder>]`. Tests,
// builds and packs everything; writes the packages, the bill of materials, checksums, release notes and receipts into the folder
// (dist/release unless said otherwise); and says what would be published. .github/workflows/release.yml publishes it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { VERSION } from '../packages/core/src/index.ts';
import { ROOT, run } from './release/commands.ts';
import { notesOf } from './release/notes.ts';
import { receiptsFor } from './release/receipts.ts';
import { softwareBill } from './release/sbom.ts';

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    'skip-tests': { type: 'boolean', default: false },
    to: { type: 'string', default: join(ROOT, 'dist/release') },
  },
});
const folder = resolve(values.to);
const at = (...path: readonly string[]): string => join(folder, ...path);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  if (!values['dry-run']) {
    throw new Error(
      `A release is published by .github/workflows/release.yml, when the tag v${VERSION} is pushed. Give --dry-run to make one here.`,
    );
  }
  await makeRelease();
} catch (error) {
  process.stderr.write(`release: ${(error as Error).message}\n`);
  process.exit(1);
}

async function makeRelease(): Promise<void> {
  const commit = run('git', ['rev-parse', 'HEAD']).trim();
  const time = Number(run('git', ['show', '--no-patch', '--format=%ct', 'HEAD']).trim());
  const changed = run('git', ['status', '--porcelain']).trim() !== '';
  say(`Version ${VERSION}, commit ${commit}${changed ? ', with changes that are not committed' : ''}.`);
  const notes = notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), VERSION);
  say(`Release notes: ${notes.released ? `the section ${VERSION}` : 'what is unreleased'} of CHANGELOG.md.`);

  if (values['skip-tests']) say('Tests: skipped (--skip-tests).');
  else test();

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(at('notes.md'), notes.text);
  run('npm', ['run', '--silent', 'build']);
  run(process.execPath, ['scripts/pack.js', '--to', at('npm')]);
  buildPython(time);
  writeFileSync(at('sbom.cdx.json'), softwareBill(time));
  const artefacts = globSync(['npm/*', 'python/*', 'sbom.cdx.json'], { cwd: folder }).toSorted();
  const sums = artefacts.map((file) => `${sha256Of(at(file))}  ${file}\n`);
  writeFileSync(at('SHA256SUMS'), sums.join(''));
  say(`Built ${artefacts.length} artefacts; their SHA-256 are in SHA256SUMS.`);
  say(`Receipts: ${await receiptsFor(folder)}, each anchored and verified.`);

  say(`\nIn ${relative(process.cwd(), folder)}, and nothing of it is published. The workflow would run:`);
  for (const file of globSync('npm/*.tgz', { cwd: folder }).toSorted())
    say(`  npm publish --provenance ${file}`);
  say('  PyPI, by trusted publishing: python/*');
  say(`  container image ${VERSION}, with its bill of materials and a signature`);
  say(`  GitHub release v${VERSION} with notes.md, SHA256SUMS, sbom.cdx.json and receipts/*`);
}

function test(): void {
  const { status } = spawnSync('npm', ['test'], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('The tests failed.');
}

/** The wheel and the sdist. Their bytes follow from the sources alone. */
function buildPython(time: number): void {
  const python = run(process.execPath, ['scripts/python-venv.js']).trim();
  if (python === '') throw new Error('Python is needed to build the Python package.');
  const env = { SOURCE_DATE_EPOCH: String(time) };
  run(python, ['-m', 'build', '--no-isolation', '--outdir', at('python'), join(ROOT, 'python')], env);
}

function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
