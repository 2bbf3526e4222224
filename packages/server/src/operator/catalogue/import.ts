import { readFileSync, statSync } from 'node:fs';
import {
  asUsage,
  EXIT,
  type Exit,
  nameOf,
  paint,
  print,
  printable,
  printJson,
  readJson,
  remark,
  UsageError,
  writeAtomically,
} from '@tallystick/cli/toolkit';
import { isObject, type JsonObject, type JsonValue, parseJson, TallyError } from '@tallystick/core';
import { catalogueEntries, checkCatalogue, readCatalogue } from '@tallystick/inference/catalogue';
import { createGuardedFetch, GuardedFetchError, guardPolicy } from '@tallystick/kit';
import { type Change, changesOf } from './changes.ts';
import { type ListedModel, type ListSource, readPriceList } from './price-lists.ts';

export interface ImportOptions {
  readonly config?: string;
  /** Patterns of models to add: an id, or the beginning of one with `*`. */
  readonly add?: readonly string[];
  readonly readOn?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** LiteLLM's list has 3 MB. */
const MAX_BYTES = 33_554_432;
const TIMEOUT_MS = 60_000;
const LITELLM_PAGE = 'https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json';

/** Compares a price list with the catalogue, shows the differences and, with `yes`, writes them into the file. */
export async function importPrices(from: string, options: ImportOptions): Promise<Exit> {
  const { config = process.env['TALLY_CONFIG'], add = [], yes = false, dryRun = false } = options;
  const path = config?.trim();
  if (!path) throw new UsageError('Name the configuration file: --config <file>, or TALLY_CONFIG.');
  const { json, source } = await readList(from, options.readOn);
  const file = readConfiguration(path);
  const changes = changesOf(catalogueEntries(file), listed(json, source), { add, today: today() });
  if (options.json === true) printJson({ from, file: path, changes: changes.map(documentOf) });
  else show(changes);
  if (changes.length === 0 || dryRun) return EXIT.ok;
  if (!yes) {
    remark(`Nothing is written yet. Add --yes to write ${changes.length} models into ${path}.`);
    return EXIT.failed;
  }
  write(path, file, changes);
  remark(`${path} is written. tally reload makes a running service use it.`);
  return EXIT.ok;
}

function listed(json: JsonValue, source: ListSource): ListedModel[] {
  try {
    return readPriceList(json, source);
  } catch (error) {
    throw asUsage(error);
  }
}

async function readList(
  from: string,
  readOn: string | undefined,
): Promise<{ json: JsonValue; source: ListSource }> {
  if (!/^https?:\/\//.test(from)) {
    const day =
      from === '-' ? today() : dayOf(statSync(from, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    const json = await readJson(from);
    const page =
      isObject(json) && Array.isArray(json['data']) ? 'https://openrouter.ai/api/v1/models' : LITELLM_PAGE;
    return { json, source: { page, readOn: readOn ?? day } };
  }
  // Plain http is for this machine only.
  const fetch = createGuardedFetch({
    policy: guardPolicy({ mode: 'development' }),
    limits: { bodyBytes: MAX_BYTES, totalMs: TIMEOUT_MS },
  });
  try {
    const { status, body } = await fetch(from);
    if (status !== 200) throw new UsageError(`${from} answered ${status}.`);
    const page = from.startsWith('https://') ? from : LITELLM_PAGE;
    return { json: parseJson(body), source: { page, readOn: readOn ?? today() } };
  } catch (error) {
    if (error instanceof GuardedFetchError) throw new UsageError(error.message, { cause: error });
    throw error instanceof TallyError ? new UsageError(`${from}: ${error.message}`, { cause: error }) : error;
  }
}

/** The file as it is; empty where there is none yet. @throws UsageError */
function readConfiguration(path: string): JsonObject {
  let json: JsonValue = {};
  try {
    json = parseJson(readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new UsageError(`${nameOf(path)} is not a JSON file that can be read.`, { cause: error });
  }
  if (!isObject(json)) throw new UsageError(`${path} is not a JSON object.`);
  return json;
}

function write(path: string, file: JsonObject, changes: readonly Change[]): void {
  const entries = Array.isArray(file['models']) ? file['models'].filter(isObject) : [];
  const merged = new Map<JsonValue | undefined, JsonObject>(entries.map((entry) => [entry['id'], entry]));
  for (const { id, members } of changes) merged.set(id, { ...merged.get(id), id, ...members });
  const next = { ...file, models: [...merged.values()] };
  const { $schema: _schema, settings: _settings, ...own } = next as JsonObject;
  const { catalogue, faults } = readCatalogue(own);
  const all = faults.length > 0 ? faults : checkCatalogue(process.env, catalogue);
  if (all.length > 0)
    throw new UsageError(`${path} is left as it was, because it would have faults: ${all.join('; ')}`);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600;
  writeAtomically(path, `${JSON.stringify(next, null, 2)}\n`, mode & 0o777);
}

function documentOf({ id, kind, members, differences }: Change): JsonObject {
  return { id, change: kind, members, differences: differences.map((one) => ({ ...one })) };
}

function show(changes: readonly Change[]): void {
  for (const { id, kind, differences } of changes) {
    print(`${paint(kind === 'added' ? 'green' : 'bold', printable(id))} ${paint('dim', kind)}`);
    for (const { member, before, after } of differences)
      print(`  ${member}: ${before === null ? '' : `${printable(before)} → `}${printable(after)}`);
  }
  const count = (kind: Change['kind']): number => changes.filter((one) => one.kind === kind).length;
  print(`${count('changed')} changed, ${count('added')} added, ${count('confirmed')} confirmed.`);
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const today = (): string => dayOf(Date.now());
