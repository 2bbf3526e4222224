// Packs every package as a registry gets it: `node scripts/pack.js [--to <folder>]`, once `npm run build` has compiled the sources
// and built the pages. Writes one tarball for each package into the folder (dist/packages unless said otherwise), in place of the
// tarballs that are there, and prints their paths. The same sources give the same bytes.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { to: { type: 'string', default: join(root, 'dist/packages') } } });
const to = resolve(values.to);
const project = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const staging = mkdtempSync(join(tmpdir(), 'tallystick-pack-'));
try {
  const staged = readdirSync(join(root, 'packages')).map(stage);
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(to)) if (file.endsWith('.tgz')) rmSync(join(to, file));
  const options = ['--pack-destination', to, '--ignore-scripts', '--loglevel=error'];
  const { status } = spawnSync('npm', ['pack', ...staged, ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
  for (const file of readdirSync(to)) process.stdout.write(`${join(to, file)}\n`);
} finally {
  rmSync(staging, { recursive: true, force: true });
}

/** Copies what is published of packages/<name>. @returns the folder of the copy */
function stage(name) {
  const home = join(root, 'packages', name);
  const source = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const folder = join(staging, name);
  const copy = (from, path) => put(join(folder, path), readFileSync(from));
  for (const file of ['LICENSE', 'CHANGELOG.md']) copy(join(root, file), file);
  copy(join(home, 'README.md'), 'README.md');

  const folders = new Set(Object.values(source.exports).map((file) => file.split('/')[1]));
  if (folders.has('src')) stageCompiled(home, folder);
  if (folders.has('built'))
    for (const file of globSync('**/*.*', { cwd: join(home, 'built') }).sort())
      copy(join(home, 'built', file), `built/${file.replaceAll('\\', '/')}`);
  for (const path of Object.values(source.bin ?? {})) {
    const program = readFileSync(join(home, path), 'utf8');
    put(join(folder, path), program.replaceAll(/'\.\.\/src\/(\w+)\.ts'/g, "'../dist/$1.js'"), 0o755);
  }
  put(join(folder, 'package.json'), `${JSON.stringify(published(name, source), null, 2)}\n`);
  return folder;
}

/** The JavaScript, declarations and data that `tsc` made of src/, without source maps, whose sources are not published. */
function stageCompiled(home, folder) {
  for (const file of readdirSync(join(home, 'src'), { recursive: true, encoding: 'utf8' }).sort()) {
    if (file.endsWith('.test.ts')) continue;
    const compiled = file.endsWith('.ts') ? ['.js', '.d.ts'].map((to) => file.replace(/\.ts$/, to)) : [file];
    for (const path of compiled) {
      const from = join(home, 'dist', path);
      // A file that no source imports, such as the data of a test, is not compiled.
      if (!/\.(?:js|json|d\.ts)$/.test(path) || !existsSync(from)) continue;
      const text = readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
      put(join(folder, 'dist', path), text);
    }
  }
}

/** The package.json of the tarball: what all packages share, and exports of JavaScript and declarations instead of the source. */
function published(name, { private: _private, devDependencies: _dev, exports, imports, ...source }) {
  const { repository, homepage, bugs, engines, keywords } = project;
  const types = exports['.']?.replace(/^\.\/src\/(.*)\.ts$/, './dist/$1.d.ts');
  return {
    ...source,
    keywords,
    homepage,
    bugs,
    repository: { ...repository, directory: `packages/${name}` },
    engines: source.engines ?? { node: engines.node },
    ...(types === undefined ? {} : { types }),
    ...(imports && {
      imports: Object.fromEntries(
        Object.entries(imports).map(([path, files]) => [path, compiledFiles(files)]),
      ),
    }),
    exports: Object.fromEntries(Object.entries(exports).map(([path, file]) => [path, compiledEntry(file)])),
    publishConfig: { access: 'public' },
  };
}

/** `./src/x.ts` as the declarations and the JavaScript that it became; a file that is published as it is, as it is. */
function compiledEntry(file) {
  const [, base] = /^\.\/src\/(.*)\.ts$/.exec(file) ?? [];
  return base === undefined ? file : { types: `./dist/${base}.d.ts`, default: `./dist/${base}.js` };
}

/** The files of an import by their conditions, as the JavaScript that they became. */
function compiledFiles(files) {
  const compiled = (file) => file.replace(/^\.\/src\/(.*)\.ts$/, './dist/$1.js');
  return Object.fromEntries(Object.entries(files).map(([condition, file]) => [condition, compiled(file)]));
}

/** Writes a file with the mode given, whatever the umask. */
function put(path, content, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}
