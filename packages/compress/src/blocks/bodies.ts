import { exampleLabel, instructs } from './instructing.ts';
import { logLine, mailHeader, searchHit, speakerOf } from './kind.ts';

/** A run of lines, `[from, to)` by index, that only a program writes, or a transcript. */
export interface Body {
  readonly from: number;
  readonly to: number;
}

/** Fewest lines of a body, and the share of its lines that must have a program's form. */
const MIN_LINES = 8;
const MIN_SHARE = 0.7;
/** Most lines of another form between two lines of a body. */
const MAX_BETWEEN = 3;

const forms: readonly RegExp[] = [
  logLine,
  searchHit,
  // ls -l, pip freeze, pytest -v, variables of an environment
  /^[-dlcbps](?:[r-][w-][xsStT-]){3}/,
  /^[\w.-]+(?:\[[\w,]+\])?==\S+$/,
  /^\S+::\S+ +(?:PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)\b/,
  /^(?:export )?[A-Z][A-Z\d_]*=\S*$/,
  // INI, properties
  /^\[[\w .:"/-]+\]$/,
  /^[\w.-]+ ?= ?\S{0,80}$/,
  // Columns: by bars, by tabs, by two blanks or more
  /^\s*\|.*\|\s*$|^[^|]*\|[^|]*\|/,
  /^[-+=| ]{8,}$/,
  /\t.*\t/,
  /\S(?: {2,}\S.*?){2,}$/,
  // Stack traces, quoted mail
  /^\s+(?:at \S|File ")/,
  /^>/,
  // Markup
  /^\s*<(?![/]?(?:rule|instruct|example|constraint|guideline|polic|step|task|question|query|format|output|requirement|criteri|tone|style|persona|role|system|input|note|important|dos?\b|dont))[/!?]?[a-z][\w:.-]*(?:\s[^<>]*)?\/?>/i,
];
const nested = /^\s+(?:- )?[\w./"'-]+:(?: \S{1,80})?$|^\s*- (?:[\w.-]+: )?\S{1,60}$/;
const key = /^(?:- )?[\w./"'-]+:(?: \S{1,80})?$/;

/** Returns the bodies among lines: tools' output, records, tables, logs, markup, transcripts. Instructions end a body. */
export function bodiesOf(lines: readonly string[]): Body[] {
  const marks = [byForm(lines), byCommas(lines), byIndent(lines), bySpeaker(lines)];
  const member = lines.map((_, at) => marks.some((own) => own[at] === true));
  const bodies: Body[] = [];
  let from = -1;
  let last = -1;
  const close = (): void => {
    if (from >= 0) bodies.push({ from, to: last + 1 });
    from = -1;
  };
  for (const [at, line] of lines.entries()) {
    if (member[at] === true) {
      if (from >= 0 && between(lines, last, at) > MAX_BETWEEN) close();
      if (from < 0) from = at;
      last = at;
    } else if (from >= 0 && line.trim() !== '' && standsAlone(lines, at) && instructs(line)) close();
  }
  close();
  return bodies.filter((body) => isBody(lines, member, body));
}

function between(lines: readonly string[], a: number, b: number): number {
  return lines.slice(a + 1, b).filter((line) => line.trim() !== '').length;
}

/** Whether a line begins a paragraph, so that it does not go on with the line before it. */
const standsAlone = (lines: readonly string[], at: number): boolean => (lines[at - 1] ?? '').trim() === '';

function isBody(lines: readonly string[], member: readonly boolean[], { from, to }: Body): boolean {
  let own = 0;
  let all = 0;
  for (let at = from; at < to; at++) {
    if ((lines[at] ?? '').trim() === '') continue;
    all++;
    if (member[at] === true) own++;
  }
  return all >= MIN_LINES && own >= all * MIN_SHARE;
}

function byForm(lines: readonly string[]): boolean[] {
  return lines.map((line) => {
    const text = line.slice(0, 400);
    return text.trim() !== '' && forms.some((form) => form.test(text));
  });
}

/** Rows of comma-separated values: several lines with as many commas, none of which is followed by a blank. */
function byCommas(lines: readonly string[]): boolean[] {
  const counts = lines.map((line) => {
    const bare = line.replaceAll(/"(?:[^"]|"")*"/g, '""');
    return /[,;] /.test(bare) ? 0 : Math.max(bare.split(',').length, bare.split(';').length) - 1;
  });
  return counts.map((count, at) => count >= 2 && [counts[at - 1], counts[at + 1]].includes(count));
}

/** Nested keys as in YAML: a quarter of the keys is indented, and no line is a sentence. */
function byIndent(lines: readonly string[]): boolean[] {
  const isKey = lines.map((line) => (nested.test(line) || key.test(line)) && !isLabel(line));
  const keys = isKey.filter(Boolean).length;
  const indented = lines.filter((line, at) => isKey[at] === true && /^\s/.test(line)).length;
  return indented * 4 >= keys ? isKey : lines.map(() => false);
}

const isLabel = (line: string): boolean => exampleLabel.test(line) || mailHeader.test(line);

/** The turns of a transcript, with the lines that go on with them. None if the labels are those of examples. */
function bySpeaker(lines: readonly string[]): boolean[] {
  const all = lines.map((line) => (isLabel(line) ? undefined : speakerOf(line.slice(0, 400))));
  // A label that stands once is a heading.
  const labels = all.map((label) => (all.indexOf(label) === all.lastIndexOf(label) ? undefined : label));
  const found = labels.filter((label) => label !== undefined);
  const several = found.length >= MIN_LINES && new Set(found).size <= found.length / 3;
  if (!several || areExamples(lines, labels)) return lines.map(() => false);
  let open = false;
  return lines.map((line, at) => {
    open = labels[at] !== undefined || (open && line.trim() !== '');
    return open;
  });
}

/** Whether labels are those of examples: each paragraph has the same ones, or what stands behind one of them repeats. */
function areExamples(lines: readonly string[], labels: readonly (string | undefined)[]): boolean {
  const values = new Map<string, string[]>();
  const paragraphs: string[] = [];
  for (const [at, label] of labels.entries()) {
    if (standsAlone(lines, at)) paragraphs.push('');
    if (label === undefined) continue;
    paragraphs[paragraphs.length - 1] += `${label}\n`;
    const value = (lines[at] ?? '').slice((lines[at] ?? '').indexOf(':') + 1).trim();
    values.set(label, [...(values.get(label) ?? []), value]);
  }
  const labelled = paragraphs.filter((own) => own !== '');
  const alike =
    labelled.length >= 3 && new Set(labelled).size === 1 && (labelled[0] ?? '').split('\n').length > 2;
  const repeats = [...values.values()].some(
    (own) =>
      own.length >= 3 && new Set(own).size * 2 <= own.length && own.every((value) => value.length <= 40),
  );
  return alike || repeats;
}
