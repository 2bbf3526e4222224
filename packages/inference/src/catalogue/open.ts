import { formatPath, isObject, type JsonObject, type JsonValue, TallyError } from '@tallystick/core';
import { validate } from '@tallystick/kit';
import type { SpokenProtocol } from '../protocols/protocol.ts';
import type { OAuthOptions } from '../providers/access-tokens.ts';
import type { ApiKey } from '../providers/api-keys.ts';
import { serviceAccountOf } from '../providers/service-account.ts';
import { type Carried, type Catalogue, createCatalogue, type Model } from './catalogue.ts';
import defaultsFile from './defaults.json' with { type: 'json' };
import { DOMAINS, type Domain } from './domains.ts';
import { carriedBy, type UpstreamKind } from './kinds.ts';
import { ollamaUrl } from './ollama-host.ts';
import { toPrice } from './price.ts';
import {
  type DefaultsFile,
  defaultsSchema,
  type ModelChange,
  type ModelEntry,
  type OperatorFile,
  operatorSchema,
  type ProviderFile,
} from './schema.ts';

/** A provider's configuration; it can be called once it is connected. */
export interface ProviderEntry {
  readonly name: string;
  readonly kind: UpstreamKind;
  readonly baseUrl: string;
  readonly apiKeys: readonly ApiKey[];
  readonly region: string | null;
  /** The protocols that its server speaks beside its kind's own. */
  readonly speaks: readonly SpokenProtocol[];
  readonly apiVersion: string | null;
  readonly oauth: OAuthOptions | null;
  readonly signingRegion: string | null;
}

/** Keys and base URLs of providers, by the names of their variables. */
type Environment = Readonly<Record<string, string | undefined>>;

export interface OpenedCatalogue {
  readonly catalogue: Catalogue;
  readonly providers: readonly ProviderEntry[];
}

/** The provider of the models that are built in. */
export const LOCAL = 'local';
const LOCAL_CARRIES: ReadonlySet<Carried> = new Set(['choices']);

/** The operator's part of the catalogue, as it was read. */
interface ReadCatalogue {
  /** Empty where there are faults. */
  readonly catalogue: OperatorFile;
  /** Environment variables that hold the keys of its providers, and of those that are built in. */
  readonly keyNames: readonly string[];
  /** Environment variables that hold addresses of these providers. */
  readonly addressNames: readonly string[];
  /** Every member that is malformed, one line each. */
  readonly faults: readonly string[];
}

let checked: DefaultsFile | undefined;

/** The default catalogue, checked once: that takes some 15 ms, and a start of the service needs it four times. */
function defaultCatalogue(): DefaultsFile {
  checked ??= validate(defaultsSchema, defaultsFile);
  return checked;
}

/** Reads the members `providers` and `models` of the configuration file, as JSON that was parsed. */
export function readCatalogue(json: JsonValue): ReadCatalogue {
  const { success, error } = operatorSchema.safeParse(json);
  const catalogue = success ? (json as OperatorFile) : {};
  const providers = [...defaultCatalogue().providers, ...(catalogue.providers ?? [])];
  return {
    catalogue,
    keyNames: [...new Set(providers.flatMap((provider) => keysOf(provider).map(({ env }) => env)))],
    addressNames: [...new Set(providers.flatMap(({ base_url_env }) => base_url_env ?? []))],
    faults: (error?.issues ?? []).map(
      ({ path, message }) => `${formatPath(path as (string | number)[]) ?? 'The file'}: ${message}`,
    ),
  };
}

/**
 * The entries of all models by their ids, as a configuration file would describe them: those of the file over those of
 * the default catalogue. Models that are switched off are left out.
 * @param file a configuration file, whose members are not checked
 */
export function catalogueEntries({ models = [] }: JsonObject): ReadonlyMap<string, JsonObject> {
  const entries = new Map(defaultsFile.models.map((entry) => [entry.id, entry as unknown as JsonObject]));
  for (const change of Array.isArray(models) ? models.filter(isObject) : []) {
    const { id } = change;
    if (typeof id !== 'string') continue;
    if (change['enabled'] === false) entries.delete(id);
    else entries.set(id, { ...entries.get(id), ...change });
  }
  return entries;
}

/** What keeps a catalogue from being opened: none, or one fault. */
export function checkCatalogue(env: Environment, operator: OperatorFile): readonly string[] {
  try {
    openCatalogue(env, operator);
    return [];
  } catch (error) {
    if (error instanceof TallyError) return [error.message];
    throw error;
  }
}

/**
 * The configured providers, and the models that they and this process serve. A default provider counts as configured if
 * its API key or base URL is in the environment; one in the operator's file always does. A model in the file changes
 * the default with the same id, or is added; `enabled: false` removes it.
 * @param env only read for the names of keys and base URLs
 * @throws missing_field, invalid_field, conflicting_fields with the path in the operator's file
 */
export function openCatalogue(env: Environment, operator: OperatorFile = {}): OpenedCatalogue {
  const defaults = defaultCatalogue();
  const providers = configured(defaults.providers, operator.providers ?? [], env);
  const names = new Map(providers.map((provider) => [provider.name, provider]));
  const known = new Set([LOCAL, ...defaults.providers.map(({ name }) => name), ...names.keys()]);
  const models = merged(defaults.models, operator.models ?? [], known)
    .map((entry) => toModel(entry, names))
    .filter(({ provider }) => provider === LOCAL || names.has(provider));
  return { catalogue: createCatalogue(models), providers };
}

function configured(
  defaults: readonly ProviderFile[],
  own: readonly ProviderFile[],
  env: Environment,
): ProviderEntry[] {
  const seen = new Set<string>();
  for (const [index, { name, api_key_env, api_keys }] of own.entries()) {
    if (seen.has(name)) throw conflict(`providers[${index}].name`, `${name} appears twice`);
    if (api_key_env !== undefined && api_keys !== undefined)
      throw conflict(`providers[${index}].api_keys`, 'api_key_env is given too');
    seen.add(name);
  }
  requireServiceAccounts(own, env);
  const known = defaults.flatMap((provider) => {
    const baseUrl = baseUrlOf(provider, env);
    const opened = toProvider(provider, env);
    return seen.has(provider.name) || (baseUrl === null && opened.apiKeys.length === 0) ? [] : [opened];
  });
  return [...own.map((provider) => toProvider(provider, env)), ...known];
}

/** A key that is of another form would be found out at the first call only. No message quotes it. */
function requireServiceAccounts(own: readonly ProviderFile[], env: Environment): void {
  for (const [index, provider] of own.entries())
    for (const { env: variable } of provider.kind === 'vertex' ? keysOf(provider) : [])
      if (env[variable] && serviceAccountOf(env[variable]) === null)
        throw new TallyError('invalid_field', `${variable} is not the JSON key of a service account.`, {
          field: `providers[${index}]`,
        });
}

function baseUrlOf({ base_url_env: variable }: ProviderFile, env: Environment): string | null {
  const text = variable === undefined ? undefined : env[variable]?.trim();
  if (!text) return null;
  return variable === 'OLLAMA_HOST' ? (ollamaUrl(text)?.href ?? null) : text;
}

/** The variables of a provider's keys. */
function keysOf({ api_key_env, api_keys = [] }: ProviderFile): NonNullable<ProviderFile['api_keys']> {
  return api_key_env === undefined ? api_keys : [{ env: api_key_env }];
}

function toProvider(provider: ProviderFile, env: Environment): ProviderEntry {
  const { name, kind, base_url, region = null, speaks = [], oauth } = provider;
  const { api_version = null, signing_region = null } = provider;
  const baseUrl = baseUrlOf(provider, env) ?? base_url;
  return {
    name,
    kind,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKeys: keysOf(provider).flatMap(({ env: variable, weight = 1 }) => {
      const key = env[variable]?.trim();
      return key ? [{ key, weight }] : [];
    }),
    region,
    // Another server at the address of a known one need not speak what that one speaks.
    speaks: baseUrl === base_url ? speaks : [],
    apiVersion: api_version,
    signingRegion: signing_region,
    oauth: oauth
      ? { tokenUrl: oauth.token_url, clientId: oauth.client_id ?? null, scope: oauth.scope ?? null }
      : null,
  };
}

type NamedEntry = ModelEntry & { readonly field: string };

function merged(
  defaults: readonly ModelEntry[],
  changes: readonly ModelChange[],
  providers: ReadonlySet<string>,
): NamedEntry[] {
  const entries = new Map(defaults.map((entry) => [entry.id, { ...entry, field: entry.id }]));
  const seen = new Set<string>();
  for (const [index, { enabled = true, ...change }] of changes.entries()) {
    const field = `models[${index}]`;
    if (seen.has(change.id)) throw conflict(`${field}.id`, `${change.id} appears twice`);
    seen.add(change.id);
    const entry = { ...entries.get(change.id), ...change, field };
    if (!enabled) entries.delete(change.id);
    else entries.set(change.id, complete(entry, providers));
  }
  return [...entries.values()];
}

const REQUIRED = ['context', 'max_output', 'abilities', 'price', 'prior'] as const;

/** @throws missing_field for a new model that is not described; invalid_field for an unknown provider */
function complete(entry: ModelChange & { field: string }, providers: ReadonlySet<string>): NamedEntry {
  const { field } = entry;
  const missing = REQUIRED.find((name) => entry[name] === undefined);
  if (missing !== undefined) {
    throw new TallyError(
      'missing_field',
      `${field}.${missing} is required: ${entry.id} is not a default model.`,
      {
        field: `${field}.${missing}`,
      },
    );
  }
  const provider = providerOf(entry);
  if (!providers.has(provider)) {
    throw new TallyError('invalid_field', `${field}: there is no provider ${provider}.`, { field });
  }
  return entry as NamedEntry;
}

function toModel(entry: NamedEntry, providers: ReadonlyMap<string, ProviderEntry>): Model {
  const provider = providerOf(entry);
  const { kind, speaks } = providers.get(provider) ?? { kind: LOCAL, speaks: [] };
  return {
    id: entry.id,
    provider,
    builtIn: provider === LOCAL,
    upstreamModel: entry.upstream_model ?? entry.id.slice(entry.id.indexOf('/') + 1),
    context: entry.context,
    maxOutput: entry.max_output,
    abilities: new Set(entry.abilities),
    carries: kind === LOCAL ? LOCAL_CARRIES : carriedBy(kind, speaks),
    kind: entry.kind ?? 'chat',
    ...(entry.dimensions && {
      dimensions: { default: entry.dimensions.default, shorter: entry.dimensions.shorter ?? [] },
    }),
    price: toPrice(entry.price, `${entry.field}.price`),
    prior: toPrior(entry.prior),
    hardware: entry.hardware ?? null,
    region: entry.region ?? providers.get(provider)?.region ?? null,
    trainingRegion: entry.training_region ?? null,
    attestation: entry.attestation ?? null,
    tokenizer: entry.tokenizer ?? 'estimate',
    ...(entry.retires_at !== undefined && { retiresOn: entry.retires_at }),
    ...(entry.successors !== undefined && { successors: entry.successors }),
  };
}

function providerOf({ id, provider }: Pick<ModelChange, 'id' | 'provider'>): string {
  return provider ?? id.slice(0, id.indexOf('/'));
}

function toPrior(prior: ModelEntry['prior']): Record<Domain, number> {
  const byName: Readonly<Record<string, number | undefined>> = prior;
  return Object.fromEntries(DOMAINS.map((name) => [name, byName[name] ?? prior.general])) as Record<
    Domain,
    number
  >;
}

function conflict(field: string, problem: string): TallyError {
  return new TallyError('conflicting_fields', `${field}: ${problem}.`, { field });
}
