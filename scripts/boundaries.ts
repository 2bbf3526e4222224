// Checks which part imports which, type-only imports included; `npm run check` runs it. The order is the picture of
// docs/architecture.md. Prints every arrow that runs the wrong way, and every circle of files; exits 1 where there is one.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Each package, and the packages of this workspace that it may import. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  core: [],
  attest: ['core'],
  compress: ['core'],
  sdk: ['core'],
  'ai-sdk': ['sdk'],
  langchain: ['sdk'],
  mcp: ['core', 'sdk'],
  web: ['core'],
  // `tally` loads the operator's commands by name, where the server is installed.
  cli: ['core', 'attest', 'sdk'],
  kit: ['core'],
  chain: ['core', 'kit'],
  log: ['core', 'kit', 'chain'],
  ledger: ['core', 'kit'],
  issuers: ['core', 'kit'],
  callers: ['core', 'kit', 'issuers', 'ledger', 'log'],
  payments: ['core', 'kit', 'chain', 'issuers', 'ledger', 'callers'],
  receipts: ['core', 'kit', 'web', 'log', 'ledger', 'issuers', 'callers', 'payments'],
  inference: ['core', 'kit', 'compress', 'log', 'ledger', 'issuers', 'callers', 'payments', 'receipts'],
  store: ['core', 'kit', 'log', 'ledger', 'issuers', 'callers', 'payments', 'receipts', 'inference'],
  server:
    'core attest kit compress web cli chain log ledger issuers callers payments receipts inference store'.split(
      ' ',
    ),
};

/** The folders and files at the top of the server, from the ground up: each may import those before it. */
export const SERVER: readonly string[] = [
  'observability',
  'pilots',
  'http',
  'config',
  'status',
  'docs',
  'prices',
  'services.ts',
  'mcp',
  'overview',
  'routes',
  'app',
  'index.ts',
  'operator',
];

interface Import {
  readonly from: string;
  readonly to: string;
}

const SPECIFIER =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/** Describes the arrows of a tree that are not allowed. @param files text by path from the root of the repository */
export function faultsOf(files: ReadonlyMap<string, string>): string[] {
  const imports = [...files].flatMap(([from, text]) => importsOf(from, text));
  return [
    ...imports.flatMap(crossing),
    ...imports.flatMap(upwards),
    ...circles(imports.filter(({ to }) => files.has(to))).map((files) => `circle: ${files.join(' -> ')}`),
  ];
}

function importsOf(from: string, text: string): Import[] {
  return [...text.matchAll(SPECIFIER)].flatMap(([, named, lazy]) => {
    const specifier = named ?? lazy ?? '';
    if (specifier.startsWith('.'))
      return { from, to: normalize(join(dirname(from), specifier)).replaceAll(sep, '/') };
    return specifier.startsWith('@tallystick/') ? { from, to: specifier } : [];
  });
}

function packageOf(path: string): string {
  return path.startsWith('@tallystick/') ? (path.split('/')[1] ?? '') : (path.split('/')[1] ?? '');
}

function crossing({ from, to }: Import): string[] {
  const [source, target] = [packageOf(from), packageOf(to)];
  if (source === target) return to.startsWith('@') ? [`${from} imports its own package by name`] : [];
  const allowed = PACKAGES[source];
  if (allowed === undefined) return [`${source} is a package that scripts/boundaries.ts does not know`];
  if (!to.startsWith('@')) return [`${from} reaches into ${to}: import @tallystick/${target}`];
  return allowed.includes(target) ? [] : [`${from} imports ${to}, and ${source} may not import ${target}`];
}

function upwards({ from, to }: Import): string[] {
  const [source, target] = [from, to].map((path) => /^packages\/server\/src\/([^/]+)/.exec(path)?.[1]);
  if (source === undefined || target === undefined || source === target) return [];
  for (const name of [source, target]) {
    if (!SERVER.includes(name)) return [`packages/server/src/${name} has no place in scripts/boundaries.ts`];
  }
  return SERVER.indexOf(target) < SERVER.indexOf(source)
    ? []
    : [`${from} imports ${to}, which stands above it`];
}

/** The cycles of a graph, each as the files along it (Tarjan, 1972). */
function circles(imports: readonly Import[]): string[][] {
  const edges = new Map<string, string[]>();
  for (const { from, to } of imports) edges.set(from, [...(edges.get(from) ?? []), to]);
  const seen = new Map<string, { index: number; low: number; open: boolean }>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): { index: number; low: number; open: boolean } => {
    const own = { index: seen.size, low: seen.size, open: true };
    seen.set(file, own);
    stack.push(file);
    for (const next of edges.get(file) ?? []) {
      const known = seen.get(next);
      if (known === undefined) own.low = Math.min(own.low, visit(next).low);
      else if (known.open) own.low = Math.min(own.low, known.index);
    }
    if (own.low === own.index) {
      const members = stack.splice(stack.indexOf(file));
      for (const member of members) (seen.get(member) ?? own).open = false;
      if (members.length > 1) found.push(members);
    }
    return own;
  };
  for (const file of edges.keys()) if (!seen.has(file)) visit(file);
  return found;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** The sources of all packages, without tests. */
export function sources(): Map<string, string> {
  const paths = readdirSync(join(root, 'packages'), {
    recursive: true,
    encoding: 'utf8',
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((path) => /^packages\/[^/]+\/src\//.test(path));
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

if (import.meta.main) {
  const faults = faultsOf(sources());
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
