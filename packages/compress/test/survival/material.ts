import { many, pick, type Random } from '../quality/random.ts';

/** Material as tools and people paste it, with one line that a question asks for. */
export interface Material {
  readonly text: string;
  readonly question: string;
  /** Text that holds the answer. */
  readonly answer: string;
}

type Writer = (random: Random, lines: number) => Material;

const nouns =
  'harbour ledger beacon orchard kettle lantern meadow anvil copper falcon glacier hamlet ivory juniper kiosk lagoon'.split(
    ' ',
  );
const words =
  'status region owner limit window policy quota shard replica mirror budget depth width target source'.split(
    ' ',
  );
const people = ['Ines', 'Bruno', 'Tariq', 'Mabel'];

const int = (random: Random, below: number): number => Math.floor(random() * below);
const pad = (n: number, digits = 2): string => String(n).padStart(digits, '0');
const clock = (second: number): string =>
  [second / 3600, (second / 60) % 60, second % 60].map((part) => pad(Math.floor(part))).join(':');

/** A name that stands once: a noun with the line's own number. */
const nameAt = (random: Random, at: number): string => `${pick(random, nouns)}-${1000 + at * 7}`;

/** Writes `count` lines, of which the one in the middle third is asked for. */
function lined(
  random: Random,
  count: number,
  line: (name: string, at: number) => string,
  question: (name: string) => string,
): Material {
  const names = many(count, (at) => nameAt(random, at));
  const asked = Math.floor(count / 3) + int(random, Math.max(1, Math.floor(count / 3)));
  const lines = names.map(line);
  return {
    text: lines.join('\n'),
    question: question(names[asked] ?? ''),
    answer: (lines[asked] ?? '').trim(),
  };
}

const under = (head: string, material: Material, foot = ''): Material => ({
  ...material,
  text: `${head}\n${material.text}${foot === '' ? '' : `\n${foot}`}`,
});

/** Kinds of material that this module writes. */
export const writers = {
  yaml: (random, lines) =>
    under(
      'services:',
      lined(
        random,
        lines,
        (name, at) =>
          at % 6 === 0
            ? `  ${name}:`
            : `    ${pick(random, words)}_${name}: ${pick(random, nouns)}${int(random, 90)}`,
        (name) => `What is set for ${name}?`,
      ),
    ),
  ini: (random, lines) =>
    lined(
      random,
      lines,
      (name, at) =>
        `${at % 8 === 0 ? `[section${at}]\n` : ''}${pick(random, words)}.${name} = ${int(random, 9999)}`,
      (name) => `Which value has ${name}?`,
    ),
  env: (random, lines) =>
    lined(
      random,
      lines,
      (name) => `${name.toUpperCase().replace('-', '_')}=${pick(random, nouns)}/${int(random, 9999)}`,
      (name) => `What is ${name.toUpperCase().replace('-', '_')} set to?`,
    ),
  steps: (random, lines) =>
    lined(
      random,
      lines,
      (name, at) =>
        `${at + 1}. Turn the ${pick(random, words)} of the ${name} to position ${int(random, 40)} and wait`,
      (name) => `To which position is the ${name} turned?`,
    ),
  kubectl: (random, lines) =>
    under(
      'NAME                      READY   STATUS             RESTARTS   AGE',
      lined(
        random,
        lines,
        (name) =>
          `${name.padEnd(25)} 1/1     ${pick(random, ['Running', 'Pending', 'CrashLoopBackOff']).padEnd(18)} ${String(int(random, 20)).padEnd(10)} ${int(random, 50)}d`,
        (name) => `How is the pod ${name}?`,
      ),
    ),
  ls: (random, lines) =>
    under(
      `total ${lines * 4}`,
      lined(
        random,
        lines,
        (name) =>
          `-rw-r--r-- 1 root root ${int(random, 99_999)} Nov ${1 + int(random, 28)} 10:${pad(int(random, 60))} ${name}.dat`,
        (name) => `How large is ${name}.dat?`,
      ),
    ),
  pytest: (random, lines) =>
    under(
      '============================= test session starts ==============================',
      lined(
        random,
        lines,
        (name, at) =>
          `tests/test_${pick(random, words)}.py::test_${name.replace('-', '_')} ${pick(random, ['PASSED', 'FAILED', 'SKIPPED'])} [${String(Math.floor((at * 100) / lines)).padStart(3)}%]`,
        (name) => `Did test_${name.replace('-', '_')} pass?`,
      ),
    ),
  pip: (random, lines) =>
    lined(
      random,
      lines,
      (name) => `${name}==${int(random, 9)}.${int(random, 20)}.${int(random, 9)}`,
      (name) => `Which version of ${name} is installed?`,
    ),
  csv: (random, lines) =>
    under(
      'id,place,remark,amount',
      lined(
        random,
        lines,
        (name, at) =>
          `${at},${name},"The ${pick(random, nouns)} was seen, then lost, and the ${pick(random, words)} of it, so ${pick(random, people)} says, was ""${pick(random, nouns)}""",${int(random, 999)}`,
        (name) => `What is remarked of ${name}?`,
      ),
    ),
  xml: (random, lines) =>
    under(
      '<?xml version="1.0"?>\n<stock>',
      lined(
        random,
        lines,
        (name) =>
          `  <item name="${name}"><shelf>${int(random, 90)}</shelf><note>${pick(random, nouns)}</note></item>`,
        (name) => `On which shelf is ${name}?`,
      ),
      '</stock>',
    ),
  html: (random, lines) =>
    under(
      '<html>\n<body>\n<ul>',
      lined(
        random,
        lines,
        (name) =>
          `<li><a href="/p/${int(random, 999)}">${name}</a> costs <b>${int(random, 900)}</b> crowns</li>`,
        (name) => `What does ${name} cost?`,
      ),
      '</ul>\n</body>\n</html>',
    ),
  markdown: (random, lines) =>
    lined(
      random,
      lines,
      (name, at) =>
        `${at % 6 === 0 ? `\n## Part ${at / 6 + 1}\n\n` : ''}- The ${name} belongs to ${pick(random, people)} and weighs ${int(random, 900)} grams`,
      (name) => `Who owns the ${name}?`,
    ),
  email: (random, lines) =>
    lined(
      random,
      Math.ceil(lines / 4),
      (name, at) =>
        `From: ${pick(random, people)} <p${at}@example.com>\nDate: ${1 + (at % 28)} May 2024\nSubject: Re: stock\n\nThe ${name} was moved to room ${int(random, 400)} because the ${pick(random, nouns)} leaked.\n`,
      (name) => `Where was the ${name} moved?`,
    ),
  transcript: (random, lines) =>
    lined(
      random,
      lines,
      (name, at) =>
        `[${clock(at * 7)}] ${people[at % 4]}: we left the ${name} with the ${pick(random, nouns)} in hall ${int(random, 90)}`,
      (name) => `In which hall is the ${name}?`,
    ),
  sql: (random, lines) =>
    under(
      '  id  |       name       | amount\n------+------------------+--------',
      lined(
        random,
        lines,
        (name, at) => ` ${pad(at, 4)} | ${name.padEnd(16)} | ${int(random, 9999)}`,
        (name) => `What amount has ${name}?`,
      ),
      `(${lines} rows)`,
    ),
  log: (random, lines) =>
    lined(
      random,
      lines,
      (name, at) =>
        `2026-03-01T${clock(at * 61)}Z ${pick(random, ['INFO', 'INFO', 'WARN', 'ERROR'])} ${name} took ${int(random, 900)} ms`,
      (name) => `How long did ${name} take?`,
    ),
  json: (random, lines) => {
    const names = many(lines, (at) => nameAt(random, at));
    const rows = names.map((name, id) => ({ id, name, shelf: int(random, 90), open: random() < 0.5 }));
    const name = names[Math.floor(lines / 2)] ?? '';
    return { text: JSON.stringify(rows), question: `On which shelf is ${name}?`, answer: name };
  },
} satisfies Readonly<Record<string, Writer>>;

export type MaterialKind = keyof typeof writers;
