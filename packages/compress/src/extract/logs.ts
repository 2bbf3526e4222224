const varying =
  /0x[\da-f]+|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|\b[\da-f]{12,}\b|"[^"]*"|'[^']*'|\d+/gi;
const severe =
  /\b(?:ERROR|FATAL|CRIT(?:ICAL)?|SEVERE|PANIC|EMERG|ALERT)\b|\b\w*(?:Exception|Error)\b|^[EF]\d{4} |\b(?:fail(?:ed|ure)?|refused|denied|timed? ?out|killed|crash(?:ed)?|corrupt(?:ed)?)\b/i;
const warning = /\bWARN(?:ING)?\b|^W\d{4} /;

/** A log line without the parts that differ between lines of one origin: times, numbers, ids, quoted values. */
function templateOf(line: string): string {
  return line.slice(0, 200).replace(varying, '#');
}

/**
 * Returns how much each line stands out, 0 to 1, by severity and by the rarity of its template. The first and the last line
 * of a template count for more than those between, which repeat them.
 */
export function logSalience(lines: readonly string[]): number[] {
  const templates = lines.map(templateOf);
  const seen = new Map<string, { first: number; last: number; count: number }>();
  for (const [i, template] of templates.entries()) {
    const found = seen.get(template);
    if (found === undefined) seen.set(template, { first: i, last: i, count: 1 });
    else seen.set(template, { first: found.first, last: i, count: found.count + 1 });
  }
  return lines.map((line, i) => {
    const { first = i, last = i, count = 1 } = seen.get(templates[i] ?? '') ?? {};
    const rarity = 1 / Math.sqrt(count);
    const place = i === first ? 1 : i === last ? 0.7 : 0.3;
    const severity = severe.test(line) ? 1 : warning.test(line) ? 0.6 : 0.2;
    return place * (0.6 * rarity + 0.4 * severity * (0.4 + 0.6 * rarity));
  });
}
