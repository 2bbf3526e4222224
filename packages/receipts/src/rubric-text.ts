/**
 * The first match of the expressions in `text`, as it stands there, that the text does not deny ("not regulated", "no
 * long retention needed"). The expressions are tried in their order and must be global.
 *
 * @returns `undefined` where the text holds no match, or denies each
 */
export function firstAsserted(text: string, expressions: readonly RegExp[]): string | undefined {
  for (const expression of expressions) {
    for (const match of text.matchAll(expression)) {
      const before = text.slice(0, match.index);
      const after = text.slice(match.index + match[0].length);
      if (!isDeniedBefore(before, after) && !DENIED_AFTER.test(after)) return match[0];
    }
  }
  return undefined;
}

const DENIES =
  /\b(?:no|non|not|never|without|neither|nor|cannot|none|nothing|hardly|rarely|exempt)\b|n[’']t\b/i;

/** Phrases with a word of `DENIES` that deny nothing, or leave the matter open. */
const DENIES_NOTHING =
  /\b(?:not (?:only|just|merely|sure|certain|clear|yet known|known|to mention)|(?:no|without (?:a )?) ?doubt|no (?:later|less|fewer|earlier) than|(?:do not|don[’']t) know)\b/gi;

/** Denies by itself ("skip the audit"); after a denial it demands ("do not skip the audit"). */
const SKIPS = /\b(?:skip|forget|miss|ignore|omit|waive)\b/i;

/** Says nothing by itself ("delete after 7 years"); after a denial it demands ("do not delete for 7 years"). */
const DELETES = /\b(?:delet\w*|destroy\w*|purg\w*|discard\w*|eras\w*|los[et])\b/i;

/** What a denial covers ends here. A comma is judged by `coveredBy`, because it may part a list. */
const CLAUSE_END =
  /[.;:!?](?=\s|$)|\b(?:but|however|although|though|instead|except|unless|yet|because|since|while|so)\b/gi;

/** "… is not needed", "… not required", "…: no", at most two words after the match. */
const DENIED_AFTER =
  /^(?:[ -][\w-]+){0,2}?(?:: ?(?:no|none|false)\b| (?:(?:is|are|was|were|does|do) )?(?:not|(?:is|are|does)n[’']t) (?:be )?(?:needed|required|necessary|wanted|relevant|applicable|apply|involved)\b| (?:(?:is|are) )?(?:unnecessary|irrelevant)\b)/i;

/** Most words between a denial and what it denies, as in "no need to keep it for …". */
const REACH = 6;

function isDeniedBefore(before: string, after: string): boolean {
  const clause = coveredBy(before, after).replace(DENIES_NOTHING, ' ');
  const words = clause.split(/[\s-]+/).filter((word) => word !== '');
  const denial = words.findLastIndex((word) => DENIES.test(word));
  const near = words.slice(-1 - REACH);
  const sinceDenial = denial === -1 ? near : words.slice(denial + 1);
  const skips = sinceDenial.some((word) => SKIPS.test(word));
  if (denial === -1) return skips;
  if (words.length - 1 - denial > REACH) return false;
  const isDouble = /^without$/i.test(words[denial] ?? '') && DENIES.test(words[denial - 1] ?? '');
  return !(skips || isDouble || sinceDenial.some((word) => DELETES.test(word)));
}

/**
 * The end of `before` whose denials reach the match: back to the end of the clause, and over a comma only within a list
 * that "or" or "nor" closes, as in "no audit, compliance or retention".
 */
function coveredBy(before: string, after: string): string {
  const clause = before.split(CLAUSE_END).at(-1) ?? '';
  const comma = clause.indexOf(',');
  if (comma === -1) return clause;
  const list = clause.slice(comma) + (after.split(CLAUSE_END)[0] ?? '');
  return /\bn?or\b/i.test(list) ? clause : clause.slice(clause.lastIndexOf(',') + 1);
}
