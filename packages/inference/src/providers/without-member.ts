/** Quotes, brackets and commas: enough to find where a member of an object ends. */
const TOKEN = /["{}[\],]/g;

/**
 * The text of a JSON object without its own members of a name, however that is escaped; every other member keeps its
 * bytes. Members of nested objects stay.
 * @param text well-formed JSON text of an object
 */
export function withoutMember(text: string, name: string): string {
  const start = text.indexOf('{') + 1;
  const otherMembers: string[] = [];
  let from = start;
  let depth = 0;
  /** The first string at the beginning of the current member. */
  let own: string | null = null;
  TOKEN.lastIndex = start;
  for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) {
    const [token] = found;
    if (token === '"') {
      TOKEN.lastIndex = endOfString(text, TOKEN.lastIndex);
      own ??= JSON.parse(text.slice(found.index, TOKEN.lastIndex)) as string;
      continue;
    }
    const ends = depth === 0 && (token === ',' || token === '}');
    if (ends) {
      if (own !== name) otherMembers.push(text.slice(from, found.index));
      own = null;
      from = TOKEN.lastIndex;
      if (token === '}') break;
    }
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
  }
  return `${text.slice(0, start)}${otherMembers.join(',')}}${text.slice(from)}`;
}

/**
 * The index after the JSON string that begins at `from`. Searched by a loop, since a regular expression overflows the
 * stack on a long one.
 */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
