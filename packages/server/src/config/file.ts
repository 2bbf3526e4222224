import { readFileSync } from 'node:fs';
import { isObject, type JsonObject, type JsonValue, parseJson, TallyError } from '@tallystick/core';

/** The configuration file, which `TALLY_CONFIG` names. */
export interface ConfigFile {
  /** As it was given; null where there is no file. */
  readonly path: string | null;
  /** Settings by the names of the environment variables; each value is a text, an integer or a list of texts. */
  readonly settings: ReadonlyMap<string, string | number | readonly string[]>;
  /** The other members: providers and models. They are not checked yet. */
  readonly catalogue: JsonObject;
  /** What is wrong with the file, one line a fault. */
  readonly faults: readonly string[];
}

const NO_FILE: ConfigFile = { path: null, settings: new Map(), catalogue: {}, faults: [] };

/** Reads the file as far as it can be read. Its faults name the file and the member, and never quote a value. */
export function readConfigFile(path: string | null): ConfigFile {
  if (path === null) return NO_FILE;
  const faults: string[] = [];
  const { $schema: _, settings = {}, ...catalogue } = parsed(path, faults);
  return { path, settings: readSettings(settings, path, faults), catalogue, faults };
}

function parsed(path: string, faults: string[]): JsonObject {
  try {
    const json = parseJson(readFileSync(path));
    if (isObject(json)) return json;
    faults.push(`${path} is not a JSON object; for example {"settings": {"PORT": 8787}}`);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    faults.push(
      error instanceof TallyError
        ? `${path} is not JSON: ${error.message}${error.field === undefined ? '' : ` (${error.field})`}`
        : `TALLY_CONFIG names ${path}, which can't be read (${code}); check the path and who may read it`,
    );
  }
  return {};
}

function readSettings(settings: JsonValue, path: string, faults: string[]): ConfigFile['settings'] {
  const found = new Map<string, string | number | readonly string[]>();
  if (!isObject(settings)) {
    faults.push(`settings in ${path} is not an object; for example {"settings": {"PORT": 8787}}`);
    return found;
  }
  for (const [name, value] of Object.entries(settings)) {
    if (isText(value) || isTexts(value) || Number.isSafeInteger(value)) {
      found.set(name, value as string | number | readonly string[]);
    } else {
      faults.push(
        `${name} in ${path} is neither a text, nor an integer, nor a list of texts, or it is empty`,
      );
    }
  }
  return found;
}

const isText = (value: JsonValue): boolean => typeof value === 'string' && value.trim() !== '';
const isTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(isText);
