import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files that others published, and that benchmarks read. This repository does not hold them. */
interface PublicData {
  readonly what: string;
  /** Address from which git clones them. */
  readonly repository: string;
  readonly licence: string;
  readonly files: readonly PublicFiles[];
  /** `digestOf` of the files that bench/README.md was measured with. */
  readonly sha256: string;
}

interface PublicFiles {
  /** Their folder in that repository. */
  readonly from: string;
  /** Their folder in the folder of these data; empty for that folder itself. */
  readonly to: string;
  /** Pattern of their names, and how many files there are. */
  readonly named: string;
  readonly count: number;
}

/** Names a folder for the data, in place of `bench/data`. */
const SETTING = 'TALLY_BENCH_DATA';

const PUBLIC_DATA = {
  routing: {
    what: 'Answers of two models to MMLU and GSM8K, graded right or wrong (7.9 MB)',
    repository: 'https://github.com/lm-sys/RouteLLM',
    licence: 'Apache-2.0',
    files: [
      { from: 'routellm/evals/mmlu/responses', to: 'mmlu', named: 'mmlu_*.csv', count: 57 },
      { from: 'routellm/evals/gsm8k', to: '', named: 'gsm8k_responses.csv', count: 1 },
    ],
    sha256: '97699c2d29e8f91498e465198bc5f646526615ae2e3005775581b01f2e1a7017',
  },
  compression: {
    what: 'A list of 100 repositories, as JSON (42 kB)',
    repository: 'https://github.com/toon-format/toon',
    licence: 'MIT',
    files: [{ from: 'benchmarks/data', to: '', named: 'github-repos.json', count: 1 }],
    sha256: '4ce5733af4243bb998d857f57820dc3c53299a8b595571adb06aa3858ead2000',
  },
} as const satisfies Readonly<Record<string, PublicData>>;

export type PublicDataName = keyof typeof PUBLIC_DATA;

export const publicData: Readonly<Record<PublicDataName, PublicData>> = PUBLIC_DATA;

/** Thrown where public data are missing; the message says what, who publishes it, and how to get it. */
export class MissingData extends Error {}

/** Folders in which the data are looked for; they are fetched into the first. */
export function publicDataFolders(name: PublicDataName): readonly [string, ...string[]] {
  const named = process.env[SETTING];
  if (named !== undefined) return [resolve(named, name)];
  return [pathOf(`../bench/data/${name}`), pathOf(`../../shared/data/${name}`)];
}

/** The first folder that holds all files of these data. @throws MissingData */
export function publicDataFolder(name: PublicDataName): string {
  const { what, repository, licence, files } = publicData[name];
  const folders = publicDataFolders(name);
  const isWhole = (folder: string): boolean =>
    files.every((some) => pathsIn(folder, some.to, some).length >= some.count);
  const found = folders.find(isWhole);
  if (found !== undefined) return found;
  const named = files.map(({ from, to, named: names, count }) => {
    const place = join(folders[0], to);
    return `  ${from}/${names}${count > 1 ? ` (${count} files)` : ''} to ${place}`;
  });
  throw new MissingData(
    `Missing: ${what}. This repository does not hold a copy. ${repository} publishes it (${licence}).
\`npm run bench:data\` fetches it with git. Without a network, copy from a clone of that repository
${named.join('\n')}
(${SETTING} names another folder than bench/data.) Looked in ${folders.join(' and ')}.`,
  );
}

/** Paths of the files that match, in the order of their names. */
export function pathsIn(root: string, folder: string, { named }: Pick<PublicFiles, 'named'>): string[] {
  return globSync(named, { cwd: join(root, folder) })
    .toSorted()
    .map((file) => join(root, folder, file));
}

/** SHA-256, in hex, of those of all files of the data, in their order. */
export function digestOf(name: PublicDataName, folder: string): string {
  const all = createHash('sha256');
  for (const some of publicData[name].files)
    for (const path of pathsIn(folder, some.to, some))
      all.update(createHash('sha256').update(readFileSync(path)).digest());
  return all.digest('hex');
}

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
