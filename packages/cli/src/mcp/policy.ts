/** What may be done with a call: passed on, refused, or asked about. */
export type Decision = 'allow' | 'deny' | 'ask';

/** Lists of names, in which `*` stands for any characters. */
export interface PolicyOptions {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
}

/**
 * The rule by which calls are judged: `deny` wins over `ask`, and `ask` over `allow`. A name in no list is allowed if
 * nothing is listed under `allow`.
 */
export function policyOf({ allow = [], deny = [], ask = [] }: PolicyOptions): (tool: string) => Decision {
  const [allowed, denied, asked] = [allow, deny, ask].map(matcherOf);
  return (tool) => {
    if (denied?.(tool)) return 'deny';
    if (asked?.(tool)) return 'ask';
    return allow.length === 0 || allowed?.(tool) ? 'allow' : 'deny';
  };
}

function matcherOf(patterns: readonly string[]): (tool: string) => boolean {
  const rules = patterns.map((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[$()+.?[\\\]^{|}]/g, String.raw`\$&`));
    return new RegExp(`^${parts.join('[^]*')}$`);
  });
  return (tool) => rules.some((rule) => rule.test(tool));
}
