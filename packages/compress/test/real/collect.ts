import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseAllDocuments } from 'yaml';

/** A JSON document that somebody else wrote. */
export interface RealDocument {
  /** Kind of source, such as `GitHub webhooks`. */
  readonly kind: string;
  readonly name: string;
  readonly text: string;
}

/** Largest document that is taken, in UTF-16 units. */
const MAX_LENGTH = 400_000;
/** Shortest document that is taken: fewer units leave nothing to save. */
const MIN_LENGTH = 200;

/** Kinds by what the path of a file contains; a file of no kind counts as `other`. */
const kinds: readonly (readonly [string, RegExp])[] = [
  ['GitHub webhooks', /@octokit\/webhooks-examples\/.*index\.json$/],
  ['GitHub API examples', /@octokit\/openapi\/generated\/api\.github\.com\.json$/],
  ['AWS CLI examples', /awscli\/examples\/.*\.rst$/],
  ['AWS API examples', /botocore\/data\/.*\/examples-1\.json(?:\.gz)?$/],
  ['countries', /world-countries\/dist\/countries\.json$/],
  ['GeoJSON', /\.geo\.?json$|geojson/],
  ['Kubernetes objects', /k9s@[^/]+\/.*\/testdata\/.*\.json$/],
  ['Kubernetes lists', /popeye@[^/]+\/.*\/testdata\/.*\.ya?ml$/],
  ['uniform lists', /vega-datasets\/data\/[^/]+\.json$/],
  ['lock files', /(?:package-lock|\.package-lock|npm-shrinkwrap|composer)\.(?:json|lock)$/],
  ['package.json', /\/package\.json$/],
  ['JSON schemas', /schema/i],
  ['other', /\.json$/],
];

/** Finds the JSON documents in folders, file by file in the order of their paths. */
export function* collect(roots: readonly string[]): Generator<RealDocument> {
  for (const root of roots) {
    for (const path of filesIn(root)) {
      const kind = kinds.find(([, pattern]) => pattern.test(path))?.[0];
      if (kind === undefined) continue;
      for (const [index, text] of textsIn(kind, path).entries()) {
        if (text.length >= MIN_LENGTH && text.length <= MAX_LENGTH)
          yield {
            kind: kind.startsWith('GitHub') && text.startsWith('[') ? `${kind}, lists` : kind,
            name: `${path.slice(root.length + 1)}#${index}`,
            text,
          };
      }
    }
  }
}

function* filesIn(folder: string): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile() && statSync(path).size < 50_000_000) yield path;
  }
}

function textsIn(kind: string, path: string): string[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  try {
    if (kind === 'AWS CLI examples') return indentedJson(text);
    if (kind === 'GitHub webhooks') return webhooks(JSON.parse(text) as Webhook[]);
    if (kind === 'GitHub API examples') return examplesIn(JSON.parse(text));
    if (kind === 'AWS API examples') return awsExamples(JSON.parse(text) as AwsExamples);
    if (kind === 'countries') return slices(JSON.parse(text) as unknown[], 10);
    if (kind === 'uniform lists') return uniformSlices(JSON.parse(text));
    if (kind === 'Kubernetes lists') return kubernetesLists(text);
    JSON.parse(text);
    return [text];
  } catch {
    return [];
  }
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** The indented blocks of a reStructuredText document that are JSON. */
function indentedJson(rst: string): string[] {
  return [...rst.matchAll(/^([ \t]+)[{[]\s*\n(?:.*\n)*?\1[}\]][ \t]*$/gm)]
    .map(([block]) => block)
    .filter((block) => {
      try {
        return typeof JSON.parse(block) === 'object';
      } catch {
        return false;
      }
    });
}

interface Webhook {
  readonly name: string;
  readonly examples: readonly unknown[];
}

/** Each payload, and those of an event together as the list that an API would give. */
function webhooks(events: readonly Webhook[]): string[] {
  return events.flatMap(({ examples }) => [
    ...examples.map(pretty),
    ...(examples.length > 2 ? [pretty(examples)] : []),
  ]);
}

interface AwsExamples {
  readonly examples?: Readonly<Record<string, readonly { readonly output?: unknown }[]>>;
}

const awsExamples = ({ examples = {} }: AwsExamples): string[] =>
  Object.values(examples)
    .flat()
    .flatMap(({ output }) => (output === undefined ? [] : [pretty(output)]));

/** The values of the `examples` of an OpenAPI document. */
function examplesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, own]: [string, unknown]) =>
    name === 'examples' && typeof own === 'object' && own !== null && !Array.isArray(own)
      ? Object.values(own).flatMap((example: unknown) =>
          typeof example === 'object' && example !== null && 'value' in example
            ? [pretty(example.value)]
            : [],
        )
      : examplesIn(own),
  );
}

/** Lists of so many items. */
const slices = (items: readonly unknown[], size: number): string[] =>
  Array.from({ length: Math.floor(items.length / size) }, (_, i) =>
    pretty(items.slice(i * size, (i + 1) * size)),
  );

/** The first pages, of 50 items, of a list of flat objects that all have the same members. */
function uniformSlices(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  const isFlat = (item: unknown): item is object =>
    typeof item === 'object' &&
    item !== null &&
    Object.values(item).every((one) => typeof one !== 'object' || one === null);
  if (!value.every(isFlat)) return [];
  const members = new Set(value.map((item) => Object.keys(item).toSorted().join()));
  return members.size === 1 ? slices(value, 50).slice(0, 5) : [];
}

/** Documents of the kind that `kubectl get -o json` prints: a list of objects. */
const kubernetesLists = (text: string): string[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as { readonly kind?: string; readonly items?: readonly unknown[] })
    .filter(({ kind = '', items = [] }) => kind.endsWith('List') && items.length > 1)
    .map(pretty);
