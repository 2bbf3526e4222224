import type { Span } from '../extract/spans.ts';
import { lineSpans } from '../extract/spans.ts';
import { bodiesOf } from './bodies.ts';
import { instructingTail, isQuestion } from './instructing.ts';
import { embeddedJson, paragraphsOf } from './segments.ts';

/** Shortest stretch, in UTF-16 units, that counts as pasted material. */
const MIN_PASTE = 200;

/**
 * The stretches of a user's text that are recognised as pasted material; all else are instructions, which stay to the
 * byte. Material is, in this order:
 *
 * 1. the content of a fence, or of a tag on lines of its own, that is named for material (`log`, `<document>`);
 * 2. what stands between a line that is a rule (`---`, `===`, `"""`) and the next one, or the end;
 * 3. what follows a line that announces material (`Here is the contract:`), up to the end;
 * 4. a body of lines that only a program writes, or a transcript, wherever it stands;
 * 5. JSON, unless the line before it says that it is a form or an example.
 *
 * Instructions at the end of 2 and 3, and questions that are paragraphs of their own, are no part of them. If 3 begins with
 * a body, it ends with it. Other fences and tags are never material.
 */
export function pastesOf(text: string): Span[] {
  const found: Span[] = [];
  for (const rest of withoutFrames({ text, found })) {
    for (const outside of withoutRuled({ text, found }, rest)) addMaterial({ text, found }, outside);
  }
  return found
    .filter(({ start, end }) => end - start >= MIN_PASTE)
    .sort((one, other) => one.start - other.start);
}

interface Search {
  readonly text: string;
  readonly found: Span[];
}

const frame =
  /^(?: {0,3}(?<fence>`{3,}|~{3,}) *(?<language>[\w+-]*)[^\n`]*|[ \t]*<(?<tag>[a-z][\w-]*)(?:\s[^<>\n]*)?>[ \t]*)$/gim;
const materialFence =
  /^(?:logs?|text|txt|plain|plaintext|console|terminal|output|csv|tsv|transcript|email|document)$/i;
const materialTag =
  /^(?:documents?|docs?|context|data|logs?|files?|e?mails?|transcripts?|articles?|text|sources?|contents?|document_contents?|pages?|reports?|contracts?|conversations?|history|threads?|attachments?|pasted?|materials?|passages?|results?|search_results|stdout|stderr|tables?|csv|books?|chapters?|minutes|notes_text|chat|dump|records?|knowledge|background|excerpts?)$/i;
/** Tags of markup, whose lines are looked at one by one. */
const markup =
  /^(?:html|head|body|div|span|p|ul|ol|li|table|thead|tbody|tr|td|th|h\d|section|header|footer|main|nav|article|a|img|form|script|style|svg|rss|feed|channel|urlset|svn|project|configuration|root)$/i;

/** Finds the contents of material's fences and tags, and returns the stretches outside all fences and tags. */
function withoutFrames({ text, found }: Search): Span[] {
  const outside: Span[] = [];
  let from = 0;
  frame.lastIndex = 0;
  for (let match = frame.exec(text); match !== null; match = frame.exec(text)) {
    const { fence, language = '', tag } = match.groups ?? {};
    const start = Math.min(frame.lastIndex + 1, text.length);
    const close = fence === undefined ? closingTag(text, start, tag ?? '') : closingFence(text, start, fence);
    if (close === undefined || (tag !== undefined && markup.test(tag) && !materialTag.test(tag))) continue;
    const content = { start, end: close.start };
    const material = tag === undefined ? isMaterialFence(text, content, language) : materialTag.test(tag);
    if (tag !== undefined && !material && isRecord(text, content)) continue;
    if (material) found.push(content);
    outside.push({ start: from, end: match.index });
    from = close.end;
    frame.lastIndex = Math.max(close.end, frame.lastIndex);
  }
  outside.push({ start: from, end: text.length });
  return outside;
}

/** Whether the content of a tag that is not known is itself markup of a program. */
function isRecord(text: string, { start, end }: Span): boolean {
  const lines = text.slice(start, end).split('\n');
  return coversAll(lines);
}

function isMaterialFence(text: string, { start, end }: Span, language: string): boolean {
  if (language !== '') return materialFence.test(language);
  return coversAll(text.slice(start, end).split('\n'));
}

function coversAll(lines: readonly string[]): boolean {
  const covered = bodiesOf(lines).reduce((sum, { from, to }) => sum + to - from, 0);
  return covered >= lines.length * 0.8;
}

function closingFence(text: string, from: number, fence: string): Span | undefined {
  return matchFrom(text, from, new RegExp(`^ {0,3}${fence}${fence.charAt(0)}*[ \\t]*$`, 'gm'));
}

function closingTag(text: string, from: number, tag: string): Span | undefined {
  return matchFrom(text, from, new RegExp(`^[ \\t]*</${tag}>[ \\t]*$`, 'gm'));
}

function matchFrom(text: string, from: number, pattern: RegExp): Span | undefined {
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match === null ? undefined : { start: match.index, end: match.index + match[0].length };
}

const ruleLine = /^[ \t]*(?:([-=*_~#"'])\1{2,}|<{3,}|>{3,}|[─═—]{3,})[ \t]*$/;

/** Finds the sections between rules, and returns the stretches outside. A line under a line of text is no rule. */
function withoutRuled({ text, found }: Search, { start, end }: Span): Span[] {
  const outside: Span[] = [];
  let from = start;
  let opened: number | undefined;
  let before = '';
  for (const line of lineSpans(text.slice(start, end))) {
    const content = text.slice(start + line.start, start + line.end);
    const isRule = ruleLine.test(content.trimEnd()) && (opened !== undefined || before.trim() === '');
    before = content;
    if (!isRule) continue;
    if (opened === undefined) {
      outside.push({ start: from, end: start + line.start });
      opened = start + line.end;
    } else {
      outside.push(...document({ text, found }, { start: opened, end: start + line.start }));
      opened = undefined;
      from = start + line.end;
    }
  }
  if (opened === undefined) outside.push({ start: from, end });
  else outside.push(...document({ text, found }, { start: opened, end }));
  return outside;
}

/** Finds a document, but no questions in it and no instructions at its end; returns those. */
function document({ text, found }: Search, { start, end }: Span): Span[] {
  const paragraphs = paragraphsOf(text, start, end);
  const textOf = (own: Span): string => text.slice(own.start, own.end);
  const tail = instructingTail(paragraphs.map(textOf));
  const stays: Span[] = [];
  let from = start;
  for (const [at, own] of paragraphs.entries()) {
    if (at < tail && !isQuestion(textOf(own))) continue;
    if (own.start > from) found.push({ start: from, end: own.start });
    stays.push(at < tail ? own : { start: own.start, end });
    from = at < tail ? own.end : end;
    if (at >= tail) break;
  }
  if (from < end) found.push({ start: from, end });
  return stays;
}

/** Finds announced documents, bodies and JSON in a stretch. */
function addMaterial(search: Search, { start, end }: Span): void {
  const { text, found } = search;
  const lines = lineSpans(text.slice(start, end)).map((line) => ({
    start: start + line.start,
    end: start + line.end,
  }));
  const contents = lines.map((line) => text.slice(line.start, line.end).trimEnd());
  const bodies = [
    ...bodiesOf(contents).map(({ from, to }) => spanOf(lines, from, to)),
    ...jsonIn(text, start, end),
  ];
  for (const [at, line] of lines.entries()) {
    if (!announces(contents[at] ?? '')) continue;
    const next = lines.find((one, i) => i > at && contents[i] !== '' && one.start >= line.end);
    if (next === undefined || inAny(bodies, line)) continue;
    const own = bodies.find((body) => body.start <= next.start && body.end > next.start);
    if (own !== undefined) continue;
    addBodies(found, bodies, { start, end: line.start });
    document(search, { start: line.end, end });
    return;
  }
  addBodies(found, bodies, { start, end });
}

const spanOf = (lines: readonly Span[], from: number, to: number): Span => ({
  start: lines[from]?.start ?? 0,
  end: lines[to - 1]?.end ?? 0,
});

const inAny = (spans: readonly Span[], { start }: Span): boolean =>
  spans.some((own) => own.start <= start && own.end > start);

function addBodies(found: Span[], bodies: readonly Span[], { start, end }: Span): void {
  let from = start;
  for (const own of [...bodies].sort((one, other) => one.start - other.start)) {
    if (own.start < from || own.end > end) continue;
    found.push(own);
    from = own.end;
  }
}

function jsonIn(text: string, start: number, end: number): Span[] {
  return embeddedJson(text.slice(start, end))
    .map((own) => ({ start: start + own.start, end: start + own.end }))
    .filter((own) => !isForm(text.slice(start, own.start)));
}

const form =
  /\b(?:forms?|format|schema|shape|template|structure|examples?|like this|answer|respond|reply|return|output|input|expected|following keys|label)\b[^\n]*\s*$/i;

/** Whether what stands before JSON says that it is a form or an example, not material. */
const isForm = (before: string): boolean => form.test(before.slice(-300));

/** Longest line that announces material, in UTF-16 units. */
const MAX_ANNOUNCEMENT = 300;
const material =
  /\b(?:documents?|texts?|articles?|logs?|transcripts?|conversations?|chats?|dialogues?|threads?|e-?mails?|letters?|reports?|papers?|contracts?|agreements?|leases?|notes|minutes|files?|pages?|passages?|materials?|data|tables?|exports?|results?|dump|listings?|story|stories|chapters?|books?|records?|history|manuals?|sources?|excerpts?|contents?|context|messages|interviews?|speech(?:es)?|studies|study|paste|vertrag|bericht|protokoll|dokument|gespräch|auszug|contrat|rapport|texte|contrato|informe|documento|texto)\b/i;
const notMaterial =
  /\b(?:rules?|instructions?|examples?|guidelines?|requirements?|constraints?|formats?|templates?|schema|tasks?|steps|checklist|policy|policies|criteria|should|must|style|tone)\b/i;
const presents =
  /\b(?:here(?:['’]s| is| are| comes?| follows?)|below|this is|these are|following|attached|pasted?|hier (?:ist|sind)|voici|aquí)\b/i;

function announces(line: string): boolean {
  const content = line.trim();
  if (content === '' || content.length > MAX_ANNOUNCEMENT) return false;
  const sentence = content.slice(content.search(/[^.!?:]+[.!?:]?["”’]?$/)).trim();
  return (
    material.test(sentence) &&
    !notMaterial.test(sentence) &&
    (sentence.endsWith(':') || (presents.test(sentence) && !sentence.endsWith('?')))
  );
}
