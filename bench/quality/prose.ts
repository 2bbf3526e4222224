import { casesOf, type Marked } from './conversations.ts';
import { BUDGETS, checked, type Document, fetched, pasted } from './document.ts';
import { Random } from './random.ts';
import { namesIn, read, splitQuestions } from './sources.ts';

export function proseDocuments(): Document[] {
  const reports = namesIn('reports').map(({ name }) => ({ name, marked: reportText(name) }));
  const contracts = namesIn('contracts').map(({ name }) => ({ name, marked: contractText(name) }));
  return [
    ...reports.map(({ name, marked }) => single('reports', name, marked, 'prose')),
    binder('reports', reports.slice(0, 3), 'prose', 1),
    binder('reports', reports, 'prose', 2),
    ...contracts.map(({ name, marked }) => single('contracts', name, marked, 'contracts')),
    binder('contracts', contracts, 'contracts', 2),
  ].map(checked);
}

/** A report with its facts, which the file marks as `<<id: sentence>>`. */
export function reportText(name: string): Marked {
  return marked(read(`reports/${name}.md`));
}

/** A contract with general provisions at the ends of its sections, where lawyers put them. */
export function contractText(name: string): Marked {
  const random = new Random(`contract ${name}`);
  const general = random.shuffled(read('clauses.md').trim().split(/\n\n+/));
  const { text, ...rest } = marked(read(`contracts/${name}.md`));
  const [head = '', ...sections] = text.trimEnd().split('\n## ');
  const each = Math.floor(general.length / (sections.length + 1));
  const filled = sections.map((section, i) => {
    const clauses = section.match(/^\d+\.\d+ /gm)?.length ?? 0;
    const own = general.slice(i * each, (i + 1) * each);
    const number = /^\d+/.exec(section)?.[0] ?? String(i + 1);
    return `${section}\n${own.map((clause, at) => `\n${number}.${clauses + at + 1} ${clause}\n`).join('')}`;
  });
  const last = general.slice(sections.length * each);
  const end = last.map((clause, at) => `\n${sections.length + 1}.${at + 1} ${clause}\n`).join('');
  return {
    ...rest,
    text: [head, ...filled, `${sections.length + 1}. General provisions\n${end}`].join('\n## '),
  };
}

function marked(file: string): Marked {
  const { body, questions } = splitQuestions(file);
  const gold = new Map<string, { text: string }>();
  const text = body.replaceAll(/<<([\w-]+): (.*?)>>/gs, (_, id: string, fact: string) => {
    gold.set(id, { text: fact });
    return fact;
  });
  return { text: `${text}\n`, gold, questions, headings: [] };
}

function single(part: string, name: string, own: Marked, modality: 'prose' | 'contracts'): Document {
  const id = `${part}/${name}`;
  return {
    id,
    modality,
    messages: fetched('read_file', [own.text]),
    cases: casesOf(id, name, own),
    budgets: BUDGETS,
    headings: [],
  };
}

/** Several texts in one paste; every `every`-th question about them is asked. */
function binder(
  part: string,
  all: readonly { readonly name: string; readonly marked: Marked }[],
  modality: 'prose' | 'contracts',
  every: number,
): Document {
  const id = `${part}/binder-of-${all.length}`;
  return {
    id,
    modality,
    messages: pasted('These are the papers.', all.map(({ marked: { text } }) => text).join('\n\n')),
    cases: all.flatMap(({ name, marked: own }) => casesOf(id, name, own).filter((_, i) => i % every === 0)),
    budgets: BUDGETS,
    headings: [],
  };
}
