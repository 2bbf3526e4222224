import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../corpus/', import.meta.url);

export function read(path: string): string {
  return readFileSync(new URL(path, folder), 'utf8');
}

export function readJson(path: string): unknown {
  return JSON.parse(read(path));
}

/** The files in a folder of the corpus, by name without ending, sorted by name. */
export function namesIn(part: string): { readonly name: string; readonly path: string }[] {
  return readdirSync(new URL(`${part}/`, folder))
    .sort()
    .map((file) => ({ name: file.slice(0, file.indexOf('.')), path: `${part}/${file}` }));
}

/**
 * SHA-256, in hex, over the lines `<SHA-256 of the file>  <path>` of all files of the corpus but its README, sorted by
 * path, in the form in which `sha256sum` prints them.
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

/** SHA-256 of a text, in hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** How a question is worded: in words of its own, or in words of the text. */
export type Wording = 'paraphrased' | 'plain';

/** A question as a file lists it: `- kind id id: question`. */
export interface Question {
  readonly kind: string;
  readonly refs: readonly string[];
  readonly question: string;
  readonly wording: Wording;
}

/** Cuts a file into the text above its questions, and the questions below `# Questions` and `# Plain questions`. */
export function splitQuestions(text: string): { readonly body: string; readonly questions: Question[] } {
  const [body = '', list = ''] = text.split('\n# Questions\n');
  const [paraphrased = '', plain = ''] = list.split('\n# Plain questions\n');
  const questions = [...questionsIn(paraphrased, 'paraphrased'), ...questionsIn(plain, 'plain')];
  return { body: body.trimEnd(), questions };
}

function questionsIn(list: string, wording: Wording): Question[] {
  const lines = list.split('\n').filter((line) => line.startsWith('- '));
  return lines.map((line) => {
    const colon = line.indexOf(': ');
    const [kind = '', ...refs] = line.slice(2, colon).split(' ');
    return { kind, refs, question: line.slice(colon + 2), wording };
  });
}
