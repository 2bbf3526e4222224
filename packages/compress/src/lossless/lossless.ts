import { frozenKinds, type Kind } from '../blocks/kind.ts';
import { minifyJson } from '../json/minify.ts';
import { compactJson, isJson, parseTree, sameTree, type Tree } from '../json/tree.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { collapseLines, expandLines } from './lines.ts';
import { decodeToon } from './toon-decode.ts';
import { encodeToon } from './toon-encode.ts';
import { asTable, decodeTsv, encodeTsv } from './tsv.ts';

export type LosslessMethod = 'json-compact' | 'json-tsv' | 'json-toon' | 'jsonl-tsv' | 'line-runs';

export interface Encoded {
  readonly method: LosslessMethod;
  readonly text: string;
}

interface Candidate extends Encoded {
  readonly decodes: () => boolean;
}

/**
 * The cheapest lossless form of a segment, or undefined if none is cheaper than the text's `before` tokens. It depends
 * on the text and the tokenizer alone. Every form is decoded and compared before it is returned.
 */
export function encodeLossless(
  kind: Kind,
  text: string,
  before: number,
  tokenizer: Tokenizer,
): Encoded | undefined {
  const candidates =
    kind === 'json' ? jsonForms(text) : kind === 'jsonl' ? jsonLinesForms(text) : lineForms(kind, text);
  const counted = candidates
    .filter((candidate) => candidate.text.length < text.length * 2)
    .map((candidate) => ({ candidate, tokens: tokenizer.count(candidate.text) }))
    .sort((a, b) => a.tokens - b.tokens);

  const best = counted.find(({ candidate, tokens }) => tokens < before && candidate.decodes());
  return best === undefined ? undefined : { method: best.candidate.method, text: best.candidate.text };
}

/** Returns the value of a segment: JSON without whitespace, other text to the character. Undefined if it can't be decoded. */
export function decodeLossless({ method, text }: Encoded): string | undefined {
  if (method === 'line-runs') return expandLines(text);
  if (method === 'json-compact') return text;
  const tree = decodeTree(method, text);
  if (method !== 'jsonl-tsv' || tree?.kind !== 'list')
    return tree === undefined ? undefined : compactJson(tree);
  return tree.items.map(compactJson).join('\n');
}

function decodeTree(method: LosslessMethod, text: string): Tree | undefined {
  return method === 'json-toon' ? decodeToon(text) : decodeTsv(text);
}

function jsonForms(text: string): Candidate[] {
  const compact = minifyJson(text.trim());
  // JSON that is nested too deeply for a tree can only be minified, which loses nothing but whitespace.
  const forms: Candidate[] = [{ method: 'json-compact', text: compact, decodes: () => isJson(compact) }];
  const tree = parseTree(text.trim());
  return tree === undefined || tree.kind === 'scalar' ? forms : [...forms, ...treeForms(tree)];
}

function treeForms(tree: Tree): Candidate[] {
  const table = asTable(tree);
  const tsv = table === undefined ? [] : [form('json-tsv', encodeTsv(table), tree)];
  return [...tsv, form('json-toon', encodeToon(tree), tree)];
}

function form(method: LosslessMethod, text: string, tree: Tree): Candidate {
  return {
    method,
    text,
    decodes: () => {
      const decoded = decodeTree(method, text);
      return decoded !== undefined && sameTree(tree, decoded);
    },
  };
}

/** Forms of JSON Lines: a table if the lines are alike, else each line minified. */
function jsonLinesForms(text: string): Candidate[] {
  const lines = text.trim().split('\n').map(minifyJson);
  const compact: Candidate = { method: 'json-compact', text: lines.join('\n'), decodes: () => true };
  const tree = parseTree(`[${lines.join(',')}]`);
  const table = tree === undefined ? undefined : asTable(tree);
  if (tree === undefined || table === undefined) return [compact];
  return [compact, form('jsonl-tsv', encodeTsv(table), tree)];
}

function lineForms(kind: Kind, text: string): Candidate[] {
  if (frozenKinds.has(kind)) return [];
  const collapsed = collapseLines(text);
  if (collapsed === undefined) return [];
  return [{ method: 'line-runs', text: collapsed, decodes: () => expandLines(collapsed) === text }];
}
