/** The form that a text variable must have. */
interface TextRule {
  readonly accepts?: (text: string) => boolean;
  readonly example?: string;
}

export const matches = (pattern: RegExp) => (text: string) => pattern.test(text);

/**
 * Reads variables one by one and collects in `faults` what is wrong with them, one line each. After a fault it returns
 * a harmless substitute, so that reading goes on and finds the rest.
 */
export interface EnvReader {
  readonly faults: string[];
  /** From here on, `explicit*` and `publicUrl` variables have no default. */
  requireExplicit(on: boolean): void;
  fault(name: string, problem: string, example?: string): void;
  text(name: string, fallback: string, rule: TextRule): string;
  optional(name: string, rule: TextRule): string | null;
  explicit(name: string, fallback: string, rule: TextRule): string;
  integer(name: string, fallback: number, min: number, max: number): number;
  explicitInteger(name: string, fallback: number, min: number, max: number, example: string): number;
  oneOf<T extends string>(name: string, choices: readonly T[], fallback: T): T;
  list<T>(name: string, parse: (item: string) => T | null, example: string): readonly T[];
  /** An origin, possibly with a path, without its trailing slash; https unless it is loopback. */
  publicUrl(name: string, example: string): string | null;
  /** A URL that may carry credentials, as it was given. */
  secretUrl(name: string, protocols: readonly string[], example: string): string | null;
  explicitSecretUrl(name: string, protocols: readonly string[], example: string): string | null;
}

export function reader(env: NodeJS.ProcessEnv): EnvReader {
  const faults: string[] = [];
  let required = false;

  const value = (name: string): string | null => env[name]?.trim() || null;

  const fault = (name: string, problem: string, example?: string): void => {
    faults.push(`${name} ${problem}${example === undefined ? '' : `; for example ${name}=${example}`}`);
  };

  const missing = (name: string, example: string): void => {
    if (required && value(name) === null)
      fault(name, 'is not set and production has no default for it', example);
  };

  const optional = (name: string, rule: TextRule): string | null => {
    const text = value(name);
    if (text === null || rule.accepts?.(text) !== false) return text;
    fault(name, `is ${JSON.stringify(text)}, which is malformed`, rule.example);
    return null;
  };

  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const text = value(name);
    if (text === null) return fallback;
    const number = /^\d{1,16}$/.test(text) ? Number(text) : -1;
    if (number >= min && number <= max) return number;
    fault(name, `is ${JSON.stringify(text)}, not an integer from ${min} to ${max}`, String(fallback));
    return fallback;
  };

  const secretUrl = (name: string, protocols: readonly string[], example: string): string | null => {
    const text = value(name);
    if (text === null || protocols.includes(parseUrl(text)?.protocol ?? '')) return text;
    fault(name, `is not a ${protocols.map((protocol) => `${protocol}//`).join(' or ')} URL`, example);
    return null;
  };

  return {
    faults,
    fault,
    optional,
    integer,
    secretUrl,
    requireExplicit: (on) => {
      required = on;
    },
    text: (name, fallback, rule) => optional(name, rule) ?? fallback,
    explicit: (name, fallback, rule) => {
      missing(name, rule.example ?? fallback);
      return optional(name, rule) ?? fallback;
    },
    explicitInteger: (name, fallback, min, max, example) => {
      missing(name, example);
      return integer(name, fallback, min, max);
    },
    oneOf: <T extends string>(name: string, choices: readonly T[], fallback: T) => {
      const text = value(name);
      if (text === null) return fallback;
      const choice = choices.find((one) => one === text);
      if (choice === undefined)
        fault(name, `is ${JSON.stringify(text)}, not one of ${choices.join(', ')}`, fallback);
      return choice ?? fallback;
    },
    list: <T>(name: string, parse: (item: string) => T | null, example: string) => {
      const items =
        value(name)
          ?.split(',')
          .map((item) => item.trim()) ?? [];
      return items.flatMap((item) => {
        const parsed = parse(item);
        if (parsed === null) fault(name, `holds ${JSON.stringify(item)}, which is malformed`, example);
        return parsed === null ? [] : [parsed];
      });
    },
    publicUrl: (name, example) => {
      missing(name, example);
      const text = value(name);
      if (text === null) return null;
      const problem = publicUrlProblem(parseUrl(text));
      if (problem !== null) fault(name, problem, example);
      return problem === null ? text.replace(/\/+$/, '') : null;
    },
    explicitSecretUrl: (name, protocols, example) => {
      missing(name, example);
      return secretUrl(name, protocols, example);
    },
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Why a URL must not be published or called by strangers; null if nothing is wrong. */
export function publicUrlProblem(url: URL | null): string | null {
  if (url === null || !/^https?:$/.test(url.protocol)) return 'is not an http:// or https:// URL';
  if (url.username !== '' || url.password !== '') return 'contains credentials, but it is published';
  if (url.search !== '' || url.hash !== '') return 'contains a query or a fragment';
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    return 'is http:// but not a loopback address; use https://';
  return null;
}

export function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
