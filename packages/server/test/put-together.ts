/** Matches a notice, with its block's id and the mark in each gap. */
const notice = /\[cut (\d{12}): \d+ of \d+ \w+ left out, at each (\S+?)(?:; .*)?\]\n/g;

interface Stretch {
  readonly gap: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The stretches in an answer of `svc_retrieve`, and what its last line says. */
export function readAnswer(answer: string, mark: string): { stretches: Stretch[]; end: string } {
  const [, ...parts] = answer.split(mark);
  const end = parts.pop() ?? answer;
  const stretches = parts.map((part) => {
    const head = /^ (\d+): \w+ (\d+)-(\d+)(?:, from character \d+)?\n/.exec(part);
    if (head === null) throw new Error(`no stretch: ${part.slice(0, 80)}`);
    const [line, gap, from, to] = head;
    return { gap: Number(gap), from: Number(from), to: Number(to), text: part.slice(line.length, -1) };
  });
  return { stretches, end: end.trim() };
}

/** The arguments with which an answer says to go on; null where that was all. */
export function nextIn(answer: string): Record<string, unknown> | null {
  const [, next] = /Go on with (\{.*\})$/.exec(answer) ?? [];
  return next === undefined ? null : (JSON.parse(next) as Record<string, unknown>);
}

/**
 * The uncut text, from the text in a prompt and the answers to calls that asked for all that is missing. It knows nothing else.
 * @param answersOf the answers for an id, in order
 */
export function putTogether(sent: string, answersOf: (id: string) => readonly string[]): string {
  let text = sent;
  for (const { 0: line, 1: id = '', 2: mark = '', index } of [...sent.matchAll(notice)].reverse()) {
    const gaps: string[] = [];
    const answers = answersOf(id);
    if (answers.length === 0) continue;
    for (const answer of answers)
      for (const { gap, text: piece } of readAnswer(answer, mark).stretches)
        gaps[gap - 1] = (gaps[gap - 1] ?? '') + piece;
    const [first = '', ...rest] = text.slice(index + line.length).split(mark);
    // One line break or blank follows each mark of the block. Marks after those are others'.
    const whole = rest.reduce((all, piece, i) => {
      const missing = gaps[i];
      return missing === undefined ? `${all}${mark}${piece}` : `${all}${missing}${piece.slice(1)}`;
    }, first);
    // A line break before the notice stands for the one that the uncut text begins with.
    text = text.slice(0, whole.startsWith('\n') ? index - 1 : index) + whole;
  }
  return text;
}
