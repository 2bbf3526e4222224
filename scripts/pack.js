// Makes each package's dist/ (compiled by `tsc -b`) publishable: a package.json whose exports point at JavaScript
// and declarations instead of the source. Publish with `npm publish packages/<name>/dist`.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../packages/', import.meta.url));

for (const name of readdirSync(packages)) {
  const home = `${packages}${name}`;
  const source = JSON.parse(readFileSync(`${home}/package.json`, 'utf8'));
  if (source.private || !existsSync(`${home}/dist`)) continue;
  removeLeftovers(home);
  const { devDependencies: _dev, ...published } = source;
  if (source.exports !== undefined) published.exports = compiled(source.exports);
  if (source.bin !== undefined) packBinary(home);
  for (const file of ['README.md', '../../LICENSE']) {
    if (existsSync(`${home}/${file}`)) cpSync(`${home}/${file}`, `${home}/dist/${file.split('/').at(-1)}`);
  }
  writeFileSync(`${home}/dist/package.json`, `${JSON.stringify(published, null, 2)}\n`);
  process.stdout.write(`packages/${name}/dist: ${published.name} ${published.version}\n`);
}

/** Removes files compiled from a source that no longer exists: `tsc -b` leaves them. */
function removeLeftovers(home) {
  for (const file of readdirSync(`${home}/dist`, { recursive: true })) {
    const compiledFrom = /^(.*?)(?:\.d)?\.[jt]s(?:\.map)?$/.exec(file)?.[1];
    if (compiledFrom === undefined || file.startsWith('bin/')) continue;
    if (!existsSync(`${home}/src/${compiledFrom}.ts`)) rmSync(`${home}/dist/${file}`);
  }
}

/** Maps `./src/x.ts` to the JavaScript and the declarations compiled from it. */
function compiled(exports) {
  return Object.fromEntries(
    Object.entries(exports).map(([path, file]) => {
      const base = file.replace('./src/', './').replace(/\.ts$/, '');
      return [path, { types: `${base}.d.ts`, default: `${base}.js` }];
    }),
  );
}

/** Makes the binary start the compiled program instead of the source. */
function packBinary(home) {
  rmSync(`${home}/dist/bin`, { recursive: true, force: true });
  mkdirSync(`${home}/dist/bin`);
  const text = readFileSync(`${home}/bin/tally.js`, 'utf8').replace("'../src/main.ts'", "'../main.js'");
  writeFileSync(`${home}/dist/bin/tally.js`, text, { mode: 0o755 });
}
