import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Configuration {
  readonly models?: readonly object[];
  readonly providers?: readonly object[];
}

/** A configuration file whose models the tests call, so that no test depends on which ones the default catalogue has. */
export const MODELS_FILE = fileURLToPath(new URL('models.json', import.meta.url));

/** A configuration with these models beside its own. */
export function withModels(own: Configuration): Configuration {
  const { models = [] } = JSON.parse(readFileSync(MODELS_FILE, 'utf8')) as Configuration;
  return { ...own, models: [...models, ...(own.models ?? [])] };
}
