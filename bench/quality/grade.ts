import { type ChatMessage, compress, type Tokenizer } from '@tallystick/compress';
import { compressByBm25 } from '../../packages/compress/test/quality/bm25.ts';
import { decoded } from '../../packages/compress/test/quality/decoded.ts';
import { keptLines, type Material, materialOf } from './baselines.ts';
import { bestLines, type Stem } from './best-lines.ts';
import { type Case, type Document, type Gold, TEMPORAL, textOf } from './document.ts';

/** The package's tier that cuts, the same with plain BM25, and two ways to cut that anyone could write. */
export const TIERS = ['extractive', 'bm25', 'tail', 'random'] as const;
export type CutTier = (typeof TIERS)[number] | 'lines' | 'stems';

/** Result of one question at one budget in one tier. */
export interface Outcome {
  readonly document: Document;
  readonly question: Case;
  readonly tier: CutTier;
  readonly budget: number;
  /** Share of results with all facts and within the budget (0 or 1 unless the tier draws); `facts` is the share of facts kept. */
  readonly kept: number;
  readonly facts: number;
  /** Of the facts that are kept, the share whose date is kept too; null if none needs a date. */
  readonly dated: number | null;
  readonly missing: readonly string[];
  readonly before: number;
  readonly after: number;
  readonly over: boolean;
}

/**
 * Runs every question of a document at each of its budgets in these tiers; `lines` is plain BM25 over lines, and `stems` the same over
 * what `stem` makes of its words.
 */
export function grade(
  document: Document,
  tokenizer: Tokenizer,
  tiers: readonly CutTier[] = TIERS,
  stem?: Stem,
): Outcome[] {
  if (document.budgets.length === 0) return [];
  const material = materialOf(document.messages, tokenizer);
  const whole = compress(document.messages, { tokenizer }).account.tokens_before;
  return document.cases.flatMap((question) => {
    const messages = [...document.messages, { role: 'user', content: question.question }];
    const before = whole + tokenizer.count(question.question);
    return document.budgets.flatMap((budget) => {
      const allowed = Math.floor(before * budget);
      const run = {
        question,
        messages,
        material,
        budget,
        allowed,
        fixed: before - material.tokens,
        options: document.options,
        stem,
      };
      const known = { document, question, budget, before };
      return tiers.map((tier) => judge({ ...known, tier }, allowed, resultsOf(tier, run, tokenizer)));
    });
  });
}

interface Result {
  readonly text: string;
  readonly tokens: number;
}

interface Run {
  readonly question: Case;
  readonly messages: readonly ChatMessage[];
  readonly material: Material;
  readonly budget: number;
  readonly allowed: number;
  /** Number of tokens that are never cut. */
  readonly fixed: number;
  readonly options: Document['options'];
  readonly stem: Stem | undefined;
}

/** The texts that a model would get; there are several if a tier draws. */
function resultsOf(tier: CutTier, run: Run, tokenizer: Tokenizer): Result[] {
  const { question, messages, material, budget, allowed, fixed, options, stem } = run;
  if (tier === 'tail' || tier === 'random' || tier === 'lines' || tier === 'stems') {
    const room = allowed - fixed;
    const lines =
      tier === 'lines' || tier === 'stems'
        ? [bestLines(material, room, question.question, tier === 'stems' ? stem : undefined)]
        : keptLines(tier, material, room, `${question.id} ${budget}`);
    return lines.map(({ text, tokens }) => ({ text, tokens: tokens + fixed }));
  }
  const {
    messages: out,
    account,
    blocks,
  } = tier === 'bm25'
    ? compressByBm25(messages, { ...options, budget, tokenizer })
    : compress(messages, { ...options, tier, budget, tokenizer });
  return [{ text: [textOf(out), ...decoded(blocks)].join('\n'), tokens: account.tokens_after }];
}

function judge(
  known: Pick<Outcome, 'document' | 'question' | 'tier' | 'budget' | 'before'>,
  allowed: number,
  results: readonly Result[],
): Outcome {
  const { document, question } = known;
  const { gold } = question;
  const verdicts = results.map(({ text, tokens }) => {
    const there = gold.filter((one) => isThere(one, text));
    const dated = there.filter((one) => isDated(one, text, document.headings)).length;
    return { there, dated, kept: there.length === gold.length && tokens <= allowed };
  });
  const mean = (of: (verdict: (typeof verdicts)[number]) => number): number =>
    verdicts.reduce((sum, verdict) => sum + of(verdict), 0) / verdicts.length;
  const facts = mean(({ there }) => there.length / gold.length);
  const datable = (TEMPORAL.has(question.kind) || question.labelled === true) && facts > 0;
  return {
    ...known,
    kept: mean(({ kept }) => Number(kept)),
    facts,
    dated: datable ? mean(({ there, dated }) => dated / Math.max(1, there.length)) : null,
    missing: gold.filter((one) => !(verdicts[0]?.there.includes(one) ?? false)).map(({ text }) => text),
    after: Math.max(...results.map(({ tokens }) => tokens)),
    over: results.some(({ tokens }) => tokens > allowed),
  };
}

/** Largest distance of other cells from the first cell of their row, in UTF-16 units. */
const ROW = 700;

function isThere({ text, near = [] }: Gold, whole: string): boolean {
  for (let at = whole.indexOf(text); at >= 0; at = whole.indexOf(text, at + 1)) {
    if (near.every((other) => whole.slice(at, at + ROW).includes(other))) return true;
  }
  return false;
}

/** Returns whether the last heading before the fact is its own. */
function isDated({ text, heading }: Gold, whole: string, headings: readonly string[]): boolean {
  if (heading === undefined) return true;
  const at = whole.indexOf(text);
  const own = whole.lastIndexOf(heading, at);
  return own >= 0 && headings.every((other) => other === heading || whole.lastIndexOf(other, at) < own);
}
