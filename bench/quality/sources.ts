import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../corpus/', import.meta.url);

export function read(path: string): string {
  return readFileSync(new URL(path, folder), 'utf8');
}

export function readJson(path: string): unknown {
  return JSON.parse(read(path));
}

/** The files of a part of the corpus, by name without ending, in the order of their names. */
export function namesIn(part: string): { readonly name: string; readonly path: string }[] {
  return readdirSync(new URL(`${part}/`, folder))
    .sort()
    .map((file) => ({ name: file.slice(0, file.indexOf('.')), path: `${part}/${file}` }));
}

/**
 * SHA-256, in hex, over the lines `<SHA-256 of the file>  <path>` of every file of the corpus but its README, ordered by
 * path: what `sha256sum` prints.
 */
export function corpusDigest(): string {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(folder.pathname.length).replace(/^\/+/, ''))
    .filter((path) => path !== 'README.md')
    .sort();
  const lines = paths.map((path) => `${sha256(read(path))}  ${path}\n`);
  return sha256(lines.join(''));
}

/** In hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** How a question is worded: in words of its own, or in words that the text has too. */
export type Wording = 'paraphrased' | 'plain';

/** `- kind id id: question`. */
export interface Asked {
  readonly kind: string;
  readonly refs: readonly string[];
  readonly question: string;
  readonly wording: Wording;
}

/** The part of a file above its questions, and what is asked below `# Questions` and `# Plain questions`. */
export function splitQuestions(text: string): { readonly body: string; readonly asked: Asked[] } {
  const [body = '', questions = ''] = text.split('\n# Questions\n');
  const [paraphrased = '', plain = ''] = questions.split('\n# Plain questions\n');
  const asked = [...askedIn(paraphrased, 'paraphrased'), ...askedIn(plain, 'plain')];
  return { body: body.trimEnd(), asked };
}

function askedIn(list: string, wording: Wording): Asked[] {
  const lines = list.split('\n').filter((line) => line.startsWith('- '));
  return lines.map((line) => {
    const colon = line.indexOf(': ');
    const [kind = '', ...refs] = line.slice(2, colon).split(' ');
    return { kind, refs, question: line.slice(colon + 2), wording };
  });
}
