import { frozenKinds, type Kind } from '../blocks/kind.ts';
import { minifyJson } from '../json/minify.ts';
import { compactJson, isJson, sameTree, type Tree, treeOf } from '../json/tree.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { collapseLines, expandLines } from './lines.ts';
import { decodePacked, packedForms } from './packed.ts';
import { decodeToon } from './toon-decode.ts';
import { encodeToon } from './toon-encode.ts';
import { asTable, decodeTsv, encodeTsv } from './tsv.ts';

export type LosslessMethod =
  | 'json-compact'
  | 'json-tsv'
  | 'json-toon'
  | 'json-packed'
  | 'jsonl-tsv'
  | 'jsonl-packed'
  | 'line-runs';

export interface Encoded {
  readonly method: LosslessMethod;
  readonly text: string;
}

interface Candidate extends Encoded {
  readonly decodes: () => boolean;
}

/** A form that is longer than the shortest by this factor has more tokens, and is not counted: counting takes most of the time. */
const MUCH_LONGER = 1.1;
/** The same for a text of at most so many UTF-16 units, in which the words of an alias or of a header weigh more. */
const SHORT = 10_000;
const LONGER_IF_SHORT = 1.3;

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
  const shortest = Math.min(...candidates.map((candidate) => candidate.text.length));
  const longest = shortest * (text.length > SHORT ? MUCH_LONGER : LONGER_IF_SHORT);
  const counted = candidates
    .filter((candidate) => candidate.text.length <= longest)
    .map((candidate) => ({ candidate, tokens: tokenizer.count(candidate.text) }))
    .sort((a, b) => a.tokens - b.tokens);

  const best = counted.find(({ candidate, tokens }) => tokens < before && candidate.decodes());
  return best === undefined ? undefined : { method: best.candidate.method, text: best.candidate.text };
}

/** Returns the value of a segment: JSON without whitespace, other text to the character. Undefined if it can't be decoded. */
export function decodeLossless({ method, text }: Encoded): string | undefined {
  if (method === 'line-runs') return expandLines(text);
  if (method === 'json-compact') return text;
  const tree = decoders[method](text);
  if (tree === undefined || !method.startsWith('jsonl')) return tree && compactJson(tree);
  return tree.kind === 'list' ? tree.items.map(compactJson).join('\n') : undefined;
}

const decoders = {
  'json-toon': decodeToon,
  'json-tsv': decodeTsv,
  'jsonl-tsv': decodeTsv,
  'json-packed': decodePacked,
  'jsonl-packed': decodePacked,
} satisfies Partial<Record<LosslessMethod, (text: string) => Tree | undefined>>;
type TreeMethod = keyof typeof decoders;

function jsonForms(text: string): Candidate[] {
  const compact = minifyJson(text.trim());
  // JSON that is nested too deeply for a tree can only be minified, which loses nothing but whitespace.
  const forms: Candidate[] = [{ method: 'json-compact', text: compact, decodes: () => isJson(compact) }];
  const tree = treeOf(compact);
  if (tree === undefined || tree.kind === 'scalar') return forms;
  const lists = listForms('json', tree, compact);
  const isWorse =
    compact.length > SHORT && lists.some(({ text }) => text.length * MUCH_LONGER < compact.length);
  return [...forms, ...lists, ...(isWorse ? [] : [form('json-toon', encodeToon(tree), tree)])];
}

/** Forms of JSON Lines: those of the list of the lines, or each line minified. */
function jsonLinesForms(text: string): Candidate[] {
  const lines = text.trim().split('\n').map(minifyJson);
  const compact: Candidate = { method: 'json-compact', text: lines.join('\n'), decodes: () => true };
  const list = `[${lines.join(',')}]`;
  const tree = treeOf(list);
  return tree === undefined ? [compact] : [compact, ...listForms('jsonl', tree, list)];
}

/** JSON or JSON Lines without whitespace as one table of tab-separated values; undefined if they are no such table. */
export function tableForm(kind: 'json' | 'jsonl', compact: string): Encoded | undefined {
  const tree = treeOf(kind === 'json' ? compact : `[${compact.replaceAll('\n', ',')}]`);
  const table = tree && asTable(tree);
  if (tree === undefined || table === undefined) return undefined;
  const { method, text, decodes } = form(`${kind}-tsv`, encodeTsv(table), tree);
  return decodes() ? { method, text } : undefined;
}

function listForms(kind: 'json' | 'jsonl', tree: Tree, compact: string): Candidate[] {
  const table = asTable(tree);
  return [
    ...(table === undefined ? [] : [form(`${kind}-tsv`, encodeTsv(table), tree)]),
    ...packedForms(tree, compact).map((text) => form(`${kind}-packed`, text, tree)),
  ];
}

function form(method: TreeMethod, text: string, tree: Tree): Candidate {
  return {
    method,
    text,
    decodes: () => {
      const decoded = decoders[method](text);
      return decoded !== undefined && sameTree(tree, decoded);
    },
  };
}

function lineForms(kind: Kind, text: string): Candidate[] {
  if (frozenKinds.has(kind)) return [];
  const collapsed = collapseLines(text);
  if (collapsed === undefined) return [];
  return [{ method: 'line-runs', text: collapsed, decodes: () => expandLines(collapsed) === text }];
}
