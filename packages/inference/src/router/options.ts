/** A prompt split into its question and its lettered options (`A. …`, `(b) …`), if any. */
export interface RoutingOptions {
  readonly stem: string;
  readonly options: readonly string[];
}

const OPTION = /^\s{0,4}\(?[A-Ja-j][.)]\s+(.*)$/;
const TRAILER = 'Answer:';
/**
 * Further lines that look like options count as text: real questions have fewer, and comparing options takes quadratic
 * time.
 */
const MAX_OPTIONS = 16;

/** Splits a prompt into its stem and options; a single option counts as none. A line after an option continues it. */
export function splitOptions(text: string): RoutingOptions {
  const stem: string[] = [];
  const options: string[] = [];
  for (const line of withoutTrailer(text).split('\n')) {
    const option = options.length < MAX_OPTIONS ? OPTION.exec(line)?.[1] : undefined;
    if (option !== undefined) options.push(option);
    else if (options.length > 0) options[options.length - 1] += ` ${line}`;
    else stem.push(line);
  }
  return options.length < 2 ? { stem: text, options: [] } : { stem: stem.join('\n'), options };
}

function withoutTrailer(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.endsWith(TRAILER) ? trimmed.slice(0, -TRAILER.length).trimEnd() : text;
}

/**
 * The similarity of the options: the mean Jaccard similarity of their words over all pairs, 0 to 1. Options that
 * recombine the same few words ask for several judgements at once.
 */
export function overlap(options: readonly ReadonlySet<string>[]): number {
  let sum = 0;
  let pairs = 0;
  for (const [index, one] of options.entries())
    for (const other of options.slice(0, index)) {
      let shared = 0;
      for (const word of one) if (other.has(word)) shared++;
      sum += shared / Math.max(1, one.size + other.size - shared);
      pairs++;
    }
  return pairs === 0 ? 0 : sum / pairs;
}

/** The share of the options that a test holds for; 0 where there are none. */
export function share(options: readonly string[], test: RegExp): number {
  return options.length === 0 ? 0 : options.filter((option) => test.test(option)).length / options.length;
}
