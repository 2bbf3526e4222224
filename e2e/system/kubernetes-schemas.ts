import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goModule } from './go-modules.ts';

/** The version of Kubernetes that the schemas are of, as `major.minor.patch`. */
export const KUBERNETES = '1.37.2';

type Schema = { [name: string]: unknown };

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * Writes the JSON Schemas of Kubernetes and of ServiceMonitor into a folder, as kubeconform looks for them. They come from
 * its OpenAPI document, and from the definition that the Prometheus operator installs.
 * Members that no schema names are refused.
 * @param kinds of Kubernetes' own
 * @returns what kubeconform takes as `-schema-location`
 */
export function writeKubernetesSchemas(folder: string, kinds: readonly string[]): string {
  const write = ({ group, version, kind }: Kind, schema: Schema): void => {
    const name = [kind, group.split('.')[0], version].filter(Boolean).join('-').toLowerCase();
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(schema));
  };
  const { definitions } = readJson(
    goModule('k8s.io/kubernetes', `v${KUBERNETES}`),
    'api/openapi-spec/swagger.json',
  ) as { definitions: Record<string, Schema> };
  const strict = closedAll(definitions);
  for (const [name, definition] of Object.entries(definitions)) {
    const [only, ...more] = (definition['x-kubernetes-group-version-kind'] ?? []) as readonly Kind[];
    if (only === undefined || more.length > 0 || !kinds.includes(only.kind)) continue;
    write(only, { $ref: `#/definitions/${name}`, definitions: strict });
  }
  writeServiceMonitor(write);
  return join(folder, '{{ .ResourceKind }}{{ .KindSuffix }}.json');
}

function writeServiceMonitor(write: (kind: Kind, schema: Schema) => void): void {
  const operator = goModule('github.com/prometheus-operator/prometheus-operator', 'v0.85.0');
  const { spec } = readJson(operator, 'jsonnet/prometheus-operator/servicemonitors-crd.json') as {
    spec: { versions: { name: string; schema: { openAPIV3Schema: Schema } }[] };
  };
  for (const { name, schema } of spec.versions) {
    const kind = { group: 'monitoring.coreos.com', version: name, kind: 'ServiceMonitor' };
    write(kind, closed(schema.openAPIV3Schema));
  }
}

const readJson = (folder: string, path: string): unknown =>
  JSON.parse(readFileSync(join(folder, path), 'utf8'));

/** A schema that refuses members it does not name, and takes a number where Kubernetes takes a number or a text. */
function closed(schema: Schema): Schema {
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true)
    return { type: ['string', 'integer'] };
  const { properties, items, additionalProperties } = schema;
  const open = properties === undefined || additionalProperties !== undefined;
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: closedAll(properties) }),
    ...(items === undefined ? {} : { items: closed(items as Schema) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: closed(additionalProperties as Schema) }
      : {}),
    ...(open ? {} : { additionalProperties: false }),
  };
}

const closedAll = (schemas: unknown): Record<string, Schema> =>
  Object.fromEntries(
    Object.entries(schemas as Schema).map(([name, schema]) => [name, closed(schema as Schema)]),
  );
