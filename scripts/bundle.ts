// Bundles what `tally` runs into a few files, unless that is done and no source has changed since: a service that loads
// 160 files is ready in 0.6 of the time, and with less memory, than one that loads 1,800. `tally` runs the sources where
// there is no bundle of them. See docs/decisions/0107-one-bundle-to-start-from.md.
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
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

/** Of undici, the pool of connections alone: what its index loads besides, such as `fetch`, is half a megabyte that nothing here calls. */
const withPool: Plugin = {
  name: 'with-pool',
  setup: (bundling) => {
    const path = fileURLToPath(new URL('bundled-undici.cjs', import.meta.url));
    bundling.onResolve({ filter: /^undici$/ }, () => ({ path }));
  },
};

/** Files that ask for a module of Node which few of those who load them need, and what stands for it: its own file says why. */
const LATER = [
  { module: /^(?:node:)?https$/, importer: /./, by: new URL('bundled-https.cjs', import.meta.url) },
  {
    module: /^node:tls$/,
    importer: /[\\/]packages[\\/]kit[\\/]/,
    by: new URL('bundled-tls.cjs', import.meta.url),
  },
  {
    module: /^node:http2$/,
    importer: /[\\/]node_modules[\\/]undici[\\/]/,
    by: new URL('bundled-http2.cjs', import.meta.url),
  },
];

const withLess: Plugin = {
  name: 'with-less',
  setup: (bundling) => {
    for (const { module, importer, by } of LATER) {
      const path = fileURLToPath(by);
      bundling.onResolve({ filter: module }, ({ importer: from }) =>
        importer.test(from) ? { path } : undefined,
      );
    }
  },
};

/** Of zod's messages the English ones, which it has by default: the index of all languages is half of what it loads. */
const inEnglish: Plugin = {
  name: 'in-english',
  setup: (bundling) => {
    bundling.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    }));
  },
};

if (bundledMain() === null) await makeBundle();

async function makeBundle(): Promise<void> {
  process.stderr.write('tallystick: bundling the program …\n');
  const folder = `${Date.now()}-${process.pid}`;
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'packages/cli/src/main.ts',
      worker: 'packages/inference/src/compression/worker.ts',
      'judge-worker': 'packages/cli/src/evidence/judge-worker.ts',
      'devnet-guard': 'packages/chain/src/devnet-guard.ts',
    },
    outdir: fileURLToPath(new URL(folder, bundles)),
    // V8 keeps the text of what it runs.
    minifyWhitespace: true,
    lineLimit: 200,
    write: false,
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
    plugins: [withOperator, withHttp, withPool, withLess, inEnglish],
    logLevel: 'warning',
  });
  mkdirSync(new URL(folder, bundles), { recursive: true });
  for (const { path, text } of outputFiles) writeFileSync(path, inAscii(text));
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

/**
 * V8 keeps a file of ASCII alone in half the memory. What esbuild has not escaped stands in comments, in regular expressions, or in raw
 * templates that regular expressions are made of, where an escape means the character.
 */
function inAscii(program: string): string {
  return program.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
