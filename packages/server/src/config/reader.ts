import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { suggest } from '@tallystick/kit';
import type { ConfigFile } from './file.ts';

/** The form that a text setting must have. */
interface TextRule {
  readonly pattern?: RegExp;
  readonly accepts?: (text: string) => boolean;
  readonly example?: string;
}

/** One setting, as it was read. */
export interface Setting {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'choice' | 'list';
  /** A secret is not in the configuration file and never printed. It may be in a file that `<name>_FILE` names. */
  readonly secret: boolean;
  /** Whether there is no default for it. */
  readonly required: boolean;
  /** Used where it is not set; null for nothing. */
  readonly fallback: string | number | null;
  readonly from: 'environment' | 'file' | 'default';
  /** What was given, without the credentials of URLs: `(secret)`, or `(faulty)` where it can't be used; null with the default. */
  readonly given: string | null;
  readonly pattern?: RegExp;
  readonly choices?: readonly string[];
  /** Of an integer. */
  readonly min?: number;
  readonly max?: number;
}

/**
 * Reads settings one by one, each from the environment or, where it is not set there, from the configuration file. It
 * collects what is wrong with them in `faults`, one line a fault. After a fault it returns a harmless substitute, so that
 * the reading goes on and finds the rest.
 */
export interface EnvReader {
  readonly faults: string[];
  /** Files of secrets, by `<name>_FILE`, that every user of the machine may read. */
  readonly exposedFiles: readonly string[];
  /** Every setting that was read. */
  readonly settings: ReadonlyMap<string, Setting>;
  /** From here on, `explicit*` and `publicUrl` settings have no default. */
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
  /** A text that no fault quotes: the setting itself, or what is in the file that `<name>_FILE` names. */
  secret(name: string): string | null;
  /** A URL that may carry credentials, as it was given: a secret. */
  secretUrl(name: string, isRight: (text: string) => boolean, rule: UrlRule): string | null;
  explicitSecretUrl(name: string, isRight: (text: string) => boolean, rule: UrlRule): string | null;
  /**
   * Adds a fault for each setting of the file that nothing has read, and for each variable of the environment that nothing has read
   * and that is named almost like a setting: others of `TALLY_` may be a client's, or what Kubernetes sets for a service of that name.
   */
  refuseUnread(): void;
}

interface UrlRule {
  /** What a URL that is not right is not, such as `an http:// or https:// URL`. */
  readonly what: string;
  readonly example: string;
}

type Values = (name: string) => string | number | readonly string[] | null;
type Shape = Omit<Setting, 'name' | 'required' | 'from' | 'given' | 'secret'>;

/** Variables of the command line and of clients, and the one that names the configuration file. */
const NOT_SETTINGS: ReadonlySet<string> = new Set([
  'TALLY_API_KEY',
  'TALLY_CONFIG',
  'TALLY_HOME',
  'TALLY_URL',
]);

export function reader(env: NodeJS.ProcessEnv, file: ConfigFile): EnvReader {
  const faults: string[] = [...file.faults];
  const exposedFiles: string[] = [];
  const settings = new Map<string, Setting>();
  let required = false;

  const inEnvironment: Values = (name) => env[name]?.trim() || null;
  const inFile: Values = (name) => file.settings.get(name) ?? null;
  const fromOf = (name: string): Setting['from'] => {
    if (inEnvironment(name) !== null) return 'environment';
    return inFile(name) === null ? 'default' : 'file';
  };

  const fault = (name: string, problem: string, example?: string): void => {
    const where = fromOf(name) === 'file' ? ` in ${file.path}` : '';
    const noted = settings.get(name);
    if (noted !== undefined && noted.given !== null) settings.set(name, { ...noted, given: '(faulty)' });
    faults.push(
      `${name}${where} ${withoutCredentials(problem)}${example === undefined ? '' : `; for example ${name}=${example}`}`,
    );
  };

  const note = (name: string, shape: Shape, given: string | null, explicit = false): void => {
    settings.set(name, {
      name,
      secret: false,
      required: required && explicit,
      from: fromOf(name),
      given: given === null ? null : withoutCredentials(given),
      ...shape,
    });
  };

  const missing = (name: string, example: string): void => {
    if (required && fromOf(name) === 'default')
      fault(name, 'is not set and production has no default for it', example);
  };

  /** The value as text; null where it is not set, or where the file has another type. */
  const given = (name: string, type: 'string' | 'number'): string | null => {
    const value = inEnvironment(name) ?? inFile(name);
    if (value === null) return null;
    if (fromOf(name) === 'environment' || typeof value === type) return String(value);
    fault(name, `is ${JSON.stringify(value)}, not ${type === 'string' ? 'a text' : 'an integer'}`);
    return null;
  };

  const readText = (
    name: string,
    { pattern, accepts, example }: TextRule,
    shape: Shape,
    explicit = false,
  ): string | null => {
    const text = given(name, 'string');
    note(name, { ...shape, ...(pattern && { pattern }) }, text, explicit);
    if (text === null || (pattern?.test(text) !== false && accepts?.(text) !== false)) return text;
    fault(name, `is ${JSON.stringify(text)}, which is malformed`, example);
    return null;
  };

  const optional = (name: string, rule: TextRule): string | null =>
    readText(name, rule, { type: 'text', fallback: null });

  const readInteger = (
    name: string,
    fallback: number,
    { min, max }: { readonly min: number; readonly max: number },
    explicit: boolean,
  ): number => {
    const before = faults.length;
    const text = given(name, 'number');
    note(name, { type: 'integer', fallback, min, max }, text, explicit);
    if (text === null || faults.length > before) return fallback;
    const number = /^\d{1,16}$/.test(text) ? Number(text) : -1;
    if (number >= min && number <= max) return number;
    fault(name, `is ${JSON.stringify(text)}, not an integer from ${min} to ${max}`, String(fallback));
    return fallback;
  };

  /** The content of a file, which no fault quotes. */
  const contentOf = (name: string, path: string): string | null => {
    try {
      const text = readFileSync(resolve(path), 'utf8').trim();
      if ((statSync(resolve(path)).mode & 0o007) !== 0) exposedFiles.push(resolve(path));
      if (text !== '') return text;
      fault(name, `names ${path}, which is empty; write the secret into it`);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      fault(name, `names ${path}, which can't be read (${code}); check the path and who may read it`);
    }
    return null;
  };

  const readSecret = (name: string, explicit = false): string | null => {
    const byFile = `${name}_FILE`;
    const text = secretText(name, byFile);
    const shape = { type: 'text', secret: true, fallback: null } as const;
    note(name, shape, text === null ? null : '(secret)', explicit);
    const path = inEnvironment(byFile) ?? inFile(byFile);
    note(byFile, { type: 'text', fallback: null }, path === null ? null : String(path));
    return text;
  };

  const secretText = (name: string, byFile: string): string | null => {
    const values = [inEnvironment, inFile].find((one) => one(name) !== null || one(byFile) !== null);
    if (values === undefined) return null;
    const [text, path] = [values(name), values(byFile)];
    if (text !== null && path !== null) {
      fault(name, `and ${byFile} are both set; keep one of them`);
    } else if (values === inFile && text !== null) {
      fault(name, `is a secret, and the file holds none; set ${byFile} there, or ${name} in the environment`);
    } else if (path !== null && typeof path !== 'string') {
      fault(byFile, 'is not the path of a file');
    } else {
      return path === null ? String(text) : contentOf(byFile, path);
    }
    return null;
  };

  const readSecretUrl = (
    name: string,
    isRight: (text: string) => boolean,
    { what, example }: UrlRule,
    explicit = false,
  ): string | null => {
    const text = readSecret(name, explicit);
    if (text === null || isRight(text)) return text;
    fault(name, `is not ${what}`, example);
    return null;
  };

  return {
    faults,
    exposedFiles,
    settings,
    fault,
    optional,
    secret: (name) => readSecret(name),
    secretUrl: (name, isRight, rule) => readSecretUrl(name, isRight, rule),
    requireExplicit: (on) => {
      required = on;
    },
    text: (name, fallback, rule) => readText(name, rule, { type: 'text', fallback }) ?? fallback,
    explicit: (name, fallback, rule) => {
      missing(name, rule.example ?? fallback);
      return readText(name, rule, { type: 'text', fallback }, true) ?? fallback;
    },
    integer: (name, fallback, min, max) => readInteger(name, fallback, { min, max }, false),
    explicitInteger: (name, fallback, min, max, example) => {
      missing(name, example);
      return readInteger(name, fallback, { min, max }, true);
    },
    oneOf: <T extends string>(name: string, choices: readonly T[], fallback: T) => {
      const text = given(name, 'string');
      note(name, { type: 'choice', fallback, choices }, text);
      if (text === null) return fallback;
      const choice = choices.find((one) => one === text);
      if (choice === undefined)
        fault(name, `is ${JSON.stringify(text)}, not one of ${choices.join(', ')}`, fallback);
      return choice ?? fallback;
    },
    list: <T>(name: string, parse: (item: string) => T | null, example: string) => {
      const value = inEnvironment(name) ?? inFile(name);
      const text = typeof value === 'number' ? String(value) : value;
      const items = typeof text === 'string' ? text.split(',') : (text ?? []);
      note(name, { type: 'list', fallback: null }, value === null ? null : items.join(','));
      if (value !== null && fromOf(name) === 'file' && !Array.isArray(value)) {
        fault(name, `is ${JSON.stringify(value)}, not a list of texts`);
        return [];
      }
      return items.flatMap((given) => {
        const item = given.trim();
        const parsed = parse(item);
        if (parsed === null) fault(name, `holds ${JSON.stringify(item)}, which is malformed`, example);
        return parsed === null ? [] : [parsed];
      });
    },
    publicUrl: (name, example) => {
      missing(name, example);
      const text = given(name, 'string');
      note(name, { type: 'text', fallback: null }, text, true);
      if (text === null) return null;
      const problem = publicUrlProblem(parseUrl(text));
      if (problem !== null) fault(name, problem, example);
      return problem === null ? text.replace(/\/+$/, '') : null;
    },
    explicitSecretUrl: (name, isRight, rule) => {
      if (fromOf(`${name}_FILE`) === 'default') missing(name, rule.example);
      return readSecretUrl(name, isRight, rule, true);
    },
    refuseUnread: () => {
      const names = [...settings.keys()];
      for (const name of file.settings.keys()) {
        if (settings.has(name)) continue;
        const near = suggest(name, names);
        fault(name, `is not a setting${near === undefined ? '' : `; did you mean ${near}?`}`);
      }
      for (const name of Object.keys(env)) {
        if (!name.startsWith('TALLY_') || settings.has(name) || NOT_SETTINGS.has(name)) continue;
        const near = suggest(name, names);
        if (near !== undefined && inEnvironment(name) !== null)
          fault(name, `is not a setting; did you mean ${near}?`);
      }
    },
  };
}

/** A text without user, password, query and fragment of the URLs in it. */
function withoutCredentials(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#]*@)?([^\s?#]*)(?:[?#][^\s"]*)?/gi, '$1$2');
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

/** Whether a text is a URL with one of these schemes, each with its colon. */
export function hasScheme(...schemes: readonly string[]): (text: string) => boolean {
  return (text) => schemes.includes(parseUrl(text)?.protocol ?? '');
}
