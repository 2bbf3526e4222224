import { type Html, html, prose } from './html.ts';

/** The part of JSON Schema 2020-12 that the generator writes. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A line of a field table. */
export interface Field {
  /** Names of the objects that contain it: `counterparty.`, `keys[].`; empty at the top. */
  readonly parent: string;
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** Every member of the schema, those of nested objects after their parent. A member of only some variants is not required. */
export function fieldsOf(schema: Schema, parent = ''): readonly Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, member]): readonly Field[] => [
    { parent, name, required: schema.required?.includes(name) ?? false, schema: member },
    ...fieldsOf(member, `${parent}${name}${member.items === undefined ? '' : '[]'}.`),
  ]);
  const variants = variantsOf(schema).flatMap((variant) => fieldsOf(variant, parent));
  return [
    ...own,
    ...variants.map((field) => ({ ...field, required: false })),
    ...(schema.items === undefined ? [] : fieldsOf(schema.items, parent)),
  ];
}

/** The schema itself, or the named schema that it refers to. */
export function namedBy(schema: Schema, documents: Readonly<Record<string, Schema>>): Schema {
  return schema.$ref === undefined ? schema : (documents[refName(schema.$ref)] ?? schema);
}

function variantsOf(schema: Schema): readonly Schema[] {
  return schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
}

/** A table of the fields, or nothing when there are none. */
export function fieldTable(caption: string, fields: readonly Field[]): Html | null {
  if (fields.length === 0) return null;
  return html`<h4>${caption}</h4><table class="fields" aria-label="${caption}"><tbody>${fields.map(fieldRow)}</tbody></table>`;
}

function fieldRow({ parent, name, required, schema }: Field): Html {
  const rules = rulesOf(schema);
  const text = [
    ...(schema.description === undefined ? [] : [html`<p>${prose(schema.description)}</p>`]),
    ...(rules === null ? [] : [html`<p class="rules">${rules}</p>`]),
  ];
  const title = html`<span class="name"><span class="parent">${parent}</span>${name}</span>`;
  const kind = html`<span class="kind">${typeOf(schema)}${required ? html` · <span class="required">required</span>` : null}</span>`;
  if (text.length === 0) return html`<tr><th scope="row" colspan="2">${title}${kind}</th></tr>`;
  return html`<tr><th scope="row">${title}${kind}</th><td>${text}</td></tr>`;
}

/** `string`, `integer`, `list of string`, `string or null`, or a link to a named document. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = refName(schema.$ref);
    return html`<a href="#document-${name}">${name}</a>`;
  }
  const variants = variantsOf(schema);
  if (variants.length > 0) return joined(variants.map(typeOf), schema.allOf === undefined ? ' or ' : ' and ');
  if (schema.items !== undefined) return html`list of ${typeOf(schema.items)}`;
  if (schema.const !== undefined) return html`constant`;
  if (schema.enum !== undefined) return html`one of`;
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? html`any JSON` : html`${types.join(' or ')}`;
}

function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function rulesOf(schema: Schema): Html | null {
  const rules = [
    ...constants(schema),
    ...range('characters', schema.minLength, schema.maxLength),
    ...range('', schema.minimum, schema.maximum),
    ...range('entries', schema.minItems, schema.maxItems),
    ...(schema.pattern === undefined || schema.pattern.length > 80
      ? []
      : [html`matches <code>${schema.pattern}</code>`]),
    ...(schema.format === undefined ? [] : [html`${schema.format}`]),
    ...(schema.default === undefined ? [] : [html`default <code>${show(schema.default)}</code>`]),
  ];
  return rules.length === 0 ? null : joined(rules, ' · ');
}

function constants({ const: constant, enum: choices }: Schema): Html[] {
  const values = constant === undefined ? (choices ?? []) : [constant];
  return values.length === 0
    ? []
    : [
        joined(
          values.map((value) => html`<code>${show(value)}</code>`),
          ' ',
        ),
      ];
}

/** Omits bounds that only mean "a safe integer", since every number here is one. */
function range(unit: string, min: number | undefined, max: number | undefined): Html[] {
  const low = min === undefined || min <= Number.MIN_SAFE_INTEGER ? undefined : min;
  const high = max === undefined || max >= Number.MAX_SAFE_INTEGER ? undefined : max;
  const noun = unit === '' ? '' : ` ${unit}`;
  if (low !== undefined && high !== undefined) return [html`${low} to ${high}${noun}`];
  if (low !== undefined) return [html`at least ${low}${noun}`];
  return high === undefined ? [] : [html`at most ${high}${noun}`];
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function joined(parts: readonly Html[], separator: string): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html`${separator}${part}`))}`;
}
