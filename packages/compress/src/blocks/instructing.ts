import { speakerOf } from './kind.ts';

const marker = String.raw`(?:[-*•+]|\d{1,3}[.):]|\(?[a-z\d]{1,3}\)|\[[ xX]?\])`;
const lead = new RegExp(`^\\s*(?:#{1,6} )?(?:${marker}\\s+){0,2}[*_"“(]*`);
const politely =
  /^(?:please|kindly|also|then|and|finally|now|first|next|lastly|note|important|remember)[,:!]? /i;
const imperative =
  /^(?:(?:do|does|don['’]t|never|always|only|no|not|if|when|unless|whenever|without|before|after you|answer|reply|respond|write|use|give|list|return|output|print|produce|generate|create|draft|summari[sz]e|translate|explain|describe|make|keep|quote|cite|mark|call|sign|format|convert|extract|classify|label|compare|check|find|tell|show|say|state|name|mention|refer|refuse|ask|address|avoid|exclude|include|ignore|assume|treat|consider|start|begin|end|finish|limit|stick|follow|ensure|remove|replace|rewrite|rephrase|correct|proofread|fix|sort|order|group|rank|count|calculate|compute|add|sum|highlight|respect|obey|speak|act|pretend|be|stay|stop|think|let|have|set|put|leave|round|spell|count|double-check|verify|review|edit|shorten|expand|evaluate|rate|score|judge|choose|pick|select|prefer|highlight|flag|report|read|look|see|go|try|wait|take|turn|provide|present|point|identify|determine|decide|work|attach|omit|skip|apply|bitte|antworte|schreibe|nenne|übersetze|fasse|verwende|gib|réponds|répondez|écris|utilise|traduis|donne|responde|escribe|usa|traduce|da|no des)(?![\p{L}\p{N}_-])|(?:you|your|we|our|i)\b)/iu;
const obliges =
  /\b(?:must(?: not|n['’]t)?|should(?: not|n['’]t)?|shall not|may (?:not|only)|(?:can|may) see|do not|don['’]t|never|always|please|you(?:r)? (?:are|will|have|can|need|task|job|role|answer|reply|response)|i (?:want|need|would like)|not allowed|forbidden|on no account|under no circumstances|darf nicht|muss|niemals|immer|ne jamais|toujours|nunca|siempre|go(?:es)? to|no \w+, no \w+)\b/i;
const asks = /\?["”’')\]*\s]*$/;
const instructingHead =
  /\b(?:rules?|instructions?|tasks?|requirements?|constraints?|guidelines?|policy|policies|checklist|format|output|style|tone|question|questions|examples?|allowed|not allowed|forbidden|do|don['’]ts?|notes?|important|remember|criteria|steps|before you|how to (?:answer|reply))\b/i;

/** Returns whether a line reads like an instruction or a question: an imperative, an obligation, a word to the reader. */
export function instructs(line: string): boolean {
  const text = line.slice(0, 400).replace(lead, '').replace(politely, '');
  return imperative.test(text) || asks.test(line.slice(-80)) || obliges.test(text);
}

const item = new RegExp(`^\\s*${marker}\\s`);

/** Returns whether a paragraph reads like instructions: half of its lines do, or a line announces them. */
function paragraphInstructs(paragraph: string): boolean {
  const lines = paragraph.split('\n').filter((line) => line.trim() !== '');
  const [first = ''] = lines;
  const headed = first.length <= 100 && /^#{1,6} |:\s*$|^\*\*/.test(first) && instructingHead.test(first);
  if (headed || (first.trimEnd().endsWith(':') && instructs(first)) || isQuestion(paragraph)) return true;
  if (lines.length > 0 && lines.every((line) => exampleLabel.test(line))) return true;
  const sentences = lines.flatMap((line) => line.split(/(?<=[.!?])\s+(?=\p{Lu})/u));
  const instructing = sentences.filter((own) => instructs(own) && !isTurn(own));
  return sentences.length > 0 && instructing.length * 2 >= sentences.length;
}

const isTurn = (line: string): boolean =>
  speakerOf(line.slice(0, 200)) !== undefined && !exampleLabel.test(line);

/** Longest question that is a paragraph of its own, in UTF-16 units. */
const MAX_QUESTION = 240;

/** Returns whether a paragraph is one line that asks, without a speaker's name. */
export function isQuestion(paragraph: string): boolean {
  const text = paragraph.trim();
  return text.length <= MAX_QUESTION && asks.test(text) && !/\n|^[^?]{1,40}: |^[>"“[(]/.test(text);
}

/** Matches a line with the label of an example: `Input:`, `Label:`, `Q1:`. */
export const exampleLabel =
  /^[\s*#>-]*(?:text|label|input|output|q|a|question|answer|example|sentence|class|category|sentiment|review|query|response|result|source|target|prompt|completion|premise|hypothesis|word|translation|english|german|french|spanish|user|assistant|human|ai|bot|system|tweet|comment|title|summary|context|passage|tag|type|score|explanation|reason|thought|action|observation|note|rule|step|task|problem|solution|before|after|good|bad|wrong|right|correct|incorrect|original|rewrite|message|reply)(?: ?#?\d+)?\**:/i;

/** Longest paragraph, in UTF-16 units, that may be an instruction although it is no list. */
const MAX_PARAGRAPH = 1200;

/**
 * The index from which the last paragraphs of a text are instructions: each is short or a list, the first of them
 * instructs, and half of them do. The number of paragraphs if the last ones are material.
 */
export function instructingTail(paragraphs: readonly string[]): number {
  let from = paragraphs.length;
  let instructing = 0;
  for (let at = paragraphs.length - 1; at >= 0; at--) {
    const paragraph = paragraphs[at] ?? '';
    const own = paragraph.length <= MAX_PARAGRAPH || isList(paragraph);
    if (!own) break;
    if (paragraphInstructs(paragraph)) instructing++;
    if (paragraphInstructs(paragraph) && instructing * 2 >= paragraphs.length - at) from = at;
  }
  return setOff(paragraphs, from);
}

/** Most paragraphs before an instructing one that belong to it, where two blank lines, or another form, set them off from what is before. */
const MOST_SET_OFF = 3;

/** The index from which the instructions reach whose first instructing paragraph is `from`: a rule may state something first. */
function setOff(paragraphs: readonly string[], from: number): number {
  if (from === paragraphs.length) return from;
  for (let at = from; at > 0 && from - at <= MOST_SET_OFF; at--) {
    if (at < from && !isLine(paragraphs[at] ?? '')) break;
    if (endsMaterial(paragraphs[at - 1] ?? '')) return at;
  }
  return from;
}

/** Whether a paragraph ends with two blank lines, or is of lines that are no sentences. */
const endsMaterial = (paragraph: string): boolean =>
  /\n[ \t\r]*\n[ \t\r]*\n\s*$/.test(paragraph) ||
  (paragraph.trim().split('\n').length > MOST_SET_OFF && !/[.!?…:]["'”’)\]]*$/.test(paragraph.trim()));

const isLine = (paragraph: string): boolean =>
  paragraph.trim().length <= MAX_QUESTION && !paragraph.trim().includes('\n');

function isList(paragraph: string): boolean {
  const lines = paragraph.split('\n').filter((line) => line.trim() !== '');
  return lines.filter((line) => item.test(line)).length * 2 >= lines.length;
}
