import type { ChatMessage } from '@tallystick/compress';
import { casesOf, conversationText, type Marked } from './conversations.ts';
import { type Case, checked, type Document, type Gold, type Kind } from './document.ts';
import { incidentText } from './logs.ts';
import { contractText, reportText } from './prose.ts';
import { namesIn, read, readJson } from './sources.ts';

interface Trace {
  readonly system: string;
  readonly budgets: readonly number[];
  readonly steps: readonly {
    readonly user?: string;
    readonly assistant?: string;
    readonly call?: string;
    readonly arguments?: unknown;
    /** Lines, or a reference to a text of the corpus. */
    readonly result?: readonly string[] | { readonly ref: string };
  }[];
  readonly questions?: readonly {
    readonly kind: Kind;
    readonly gold: readonly string[];
    readonly question: string;
  }[];
  /** Every `reuse`-th question about the texts that are referred to is asked about the trace as well. */
  readonly reuse?: number;
}

/** Documents whose material is agents' traces: calls of tools and their results, with little talk between. */
export function traceDocuments(): Document[] {
  return namesIn('traces').map(({ name, path }) => {
    const trace = readJson(path) as Trace;
    const id = `traces/${name}`;
    const refs = trace.steps.flatMap(({ result }) =>
      result !== undefined && 'ref' in result ? [result.ref] : [],
    );
    const texts = new Map(refs.map((ref) => [ref, textOf(ref)]));
    return checked({
      id,
      modality: trace.budgets.length > 0 ? 'agent traces' : 'code and diffs',
      messages: [{ role: 'system', content: trace.system }, ...messagesOf(trace, texts)],
      cases: [...ownCases(id, name, trace, texts), ...reusedCases(id, trace, texts)],
      budgets: trace.budgets,
      headings: [...texts.values()].flatMap(({ headings }) => headings),
    });
  });
}

/** Files of code, and a diff, as an agent reads them; they must stay unchanged. */
export function codeDocuments(): Document[] {
  return namesIn('code').map(({ path }) => ({
    id: path.replace(/\.txt$/, ''),
    modality: 'code and diffs',
    messages: [
      { role: 'user', content: 'Show the file.' },
      { role: 'tool', tool_call_id: 'call_1', content: read(path) },
    ],
    cases: [],
    budgets: [],
    headings: [],
  }));
}

const parts: Readonly<Record<string, (name: string) => Marked>> = {
  conversations: conversationText,
  contracts: contractText,
  incidents: incidentText,
  reports: reportText,
  code: (name) => ({ text: read(`code/${name}.txt`), gold: new Map(), questions: [], headings: [] }),
};

function textOf(ref: string): Marked {
  const [part = '', name = ''] = ref.split('/');
  const found = parts[part]?.(name);
  if (found === undefined) throw new Error(`There is no text ${ref}.`);
  return found;
}

function messagesOf({ steps }: Trace, texts: ReadonlyMap<string, Marked>): ChatMessage[] {
  return steps.flatMap(({ user, assistant, call, arguments: parameters, result }, i): ChatMessage[] => {
    if (user !== undefined) return [{ role: 'user', content: user }];
    if (call === undefined || result === undefined)
      return [{ role: 'assistant', content: assistant ?? null }];
    const id = `call_${i}`;
    const calls = [{ id, type: 'function', function: { name: call, arguments: JSON.stringify(parameters) } }];
    const content = 'ref' in result ? (texts.get(result.ref)?.text ?? '') : result.join('\n');
    return [
      { role: 'assistant', content: assistant ?? null, tool_calls: calls },
      { role: 'tool', tool_call_id: id, content },
    ];
  });
}

/** Cases of the trace's own questions. Facts are given as they stand in a result, or as `part/name#id`. */
function ownCases(
  id: string,
  source: string,
  { questions = [] }: Trace,
  texts: ReadonlyMap<string, Marked>,
): Case[] {
  const goldOf = (text: string): Gold => {
    const [ref = '', fact = ''] = text.split('#');
    return texts.get(ref)?.gold.get(fact) ?? { text };
  };
  return questions.map(({ kind, gold, question }, i) => ({
    id: `${id}#${source}-${i + 1}`,
    kind,
    question,
    wording: 'paraphrased',
    source,
    gold: gold.map(goldOf),
  }));
}

function reusedCases(id: string, { reuse }: Trace, texts: ReadonlyMap<string, Marked>): Case[] {
  if (reuse === undefined) return [];
  return [...texts].flatMap(([ref, marked]) =>
    casesOf(id, ref.slice(ref.indexOf('/') + 1), marked).filter((_, i) => i % reuse === 0),
  );
}
