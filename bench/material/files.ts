import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../../corpus/', import.meta.url);

/** The part that whoever works on the engine may read, and the part that nobody reads. */
export type Part = 'development' | 'held-out';

/** A file of the corpus that others wrote. */
export interface MaterialFile {
  /** `part/kind/name`, without `.txt`. */
  readonly path: string;
  readonly part: Part;
  readonly kind: string;
  /** The package that it comes from: questions on files of one package are no independent evidence. */
  readonly source: string;
  readonly text: string;
}

/** The files of a part, as `sources.tsv` lists them. */
export function filesOf(part: Part): MaterialFile[] {
  const [, ...rows] = readFileSync(new URL('sources.tsv', folder), 'utf8').trim().split('\n');
  return rows.flatMap((row) => {
    const [file = '', kind = '', , source = ''] = row.split('\t');
    if (!file.startsWith(`${part}/`)) return [];
    const text = readFileSync(new URL(file, folder), 'utf8');
    return [{ path: file.replace(/\.txt$/, ''), part, kind, source, text }];
  });
}

/** SHA-256, in hex, over the lines `<SHA-256 of the file>  <path>` of a part's files, as `corpus/README.md` says. */
export function partDigest(part: Part): string {
  const root = new URL(`${part}/`, folder);
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(root.pathname.length).replace(/^\/+/, ''))
    .sort();
  const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
  return sha256(paths.map((path) => `${sha256(readFileSync(new URL(path, root)))}  ${path}\n`).join(''));
}

/** The digest of the held-out part that was committed before the work that it measures. */
export function committedDigest(): string {
  return readFileSync(new URL('held-out.sha256', folder), 'utf8').trim();
}
