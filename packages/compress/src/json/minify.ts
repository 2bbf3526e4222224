/** Removes the whitespace between the lexemes of valid JSON, at any depth. Strings and numbers keep their lexemes. */
export function minifyJson(json: string): string {
  const parts: string[] = [];
  let from = 0;
  let at = 0;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === 34) at = stringEnd(json, at);
    else if (code > 32) at++;
    else {
      if (at > from) parts.push(json.slice(from, at));
      while (at < json.length && json.charCodeAt(at) <= 32) at++;
      from = at;
    }
  }
  parts.push(json.slice(from));
  return parts.join('');
}

/** Offset after the closing quotation mark of the string that opens at `at`. */
export function stringEnd(json: string, at: number): number {
  let end = json.indexOf('"', at + 1);
  while (end >= 0 && escaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end + 1;
}

function escaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === 92) backslashes++;
  return backslashes % 2 === 1;
}
