// Bundles what `tally` runs into a few files, unless that is done and no source has changed since: a service that loads
// 160 files is ready in 0.6 of the time, and with less memory, than one that loads 1,800. `tally` runs the sources where
// there is no bundle of them. See docs/decisions/0107-one-bundle-to-start-from.md.
import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { BUNDLES, type Bundle, bundledMain, LAST, sourceAt } from '../packages/cli/src/bundle.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const bundles = new URL(`../${BUNDLES}`, import.meta.url);
/** How many bundles stay: a service that is running loads parts of its own when they are first used. */
const KEPT = 3;

/** Bundled CommonJS calls it for Node's own modules. */
const REQUIRE =
  "import { createRequire as requireFor } from 'node:module';\nconst require = requireFor(import.meta.url);";

/** The operator's commands are in the bundle too: the program names their package by a variable, since it may not be installed. */
const withOperator: Plugin = {
  name: 'with-operator',
  setup: (bundling) => {
    bundling.onLoad({ filter: /[\\/]cli[\\/]src[\\/]operator\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const contents = source.replace('import(MODULE)', "import('@tallystick/server/operator')");
      if (contents === source) throw new Error(`${path} does not import(MODULE).`);
      return { contents, loader: 'ts' };
    });
  },
};

/** An `import` at the head of a file takes Node's `http` from bundled-http.cjs, which says why; `import()` takes Node's own. */
const withHttp: Plugin = {
  name: 'with-http',
  setup: (bundling) => {
    const path = fileURLToPath(new URL('bundled-http.cjs', import.meta.url));
    bundling.onResolve({ filter: /^(?:node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path } : undefined,
    );
  },
};

if (bundledMain() === null) await makeBundle();

async function makeBundle(): Promise<void> {
  process.stderr.write('tallystick: bundling the program …\n');
  const folder = `${Date.now()}-${process.pid}`;
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'packages/cli/src/main.ts',
      worker: 'packages/inference/src/compression/worker.ts',
      'judge-worker': 'packages/cli/src/evidence/judge-worker.ts',
      'devnet-guard': 'packages/chain/src/devnet-guard.ts',
    },
    outdir: fileURLToPath(new URL(folder, bundles)),
    bundle: true,
    splitting: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Of a package that has both, modules: UMD asks for its files by a `require` that no bundler sees.
    mainFields: ['module', 'main'],
    external: ['@tallystick/web/*', 'pkcs11js', 'pg-native'],
    banner: { js: REQUIRE },
    plugins: [withOperator, withHttp],
    logLevel: 'warning',
  });
  const sources = Object.keys(metafile.inputs)
    .filter((path) => !path.startsWith('node_modules/'))
    .concat('package-lock.json', 'scripts/bundle.ts')
    .map((path) => sourceAt(path));
  const part = new URL(`.${LAST}.${process.pid}`, bundles);
  writeFileSync(part, JSON.stringify({ folder, sources } satisfies Bundle));
  renameSync(part, new URL(LAST, bundles));
  for (const older of globSync('[0-9]*', { cwd: bundles }).toSorted().slice(0, -KEPT))
    rmSync(new URL(older, bundles), { recursive: true, force: true });
}
